"""How a branch reads its half of the embedding."""

import pytest
import torch
from torch import Tensor

from acclock.embedding.networks.config import TcnConfig
from acclock.embedding.networks.hidnet import DilatedBlock, TemporalConvolutions, bound


def draw(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    "config", [TcnConfig(), TcnConfig(kernel=2, levels=3), TcnConfig(kernel=5, levels=1)]
)
def test_a_branch_reaches_as_far_as_it_says(config: TcnConfig) -> None:
    branch = TemporalConvolutions(config).eval()
    shortest = draw(2, config.reach).requires_grad_()

    branch(shortest).square().mul(torch.arange(config.channels)).sum().backward()

    assert shortest.grad is not None
    assert (shortest.grad != 0).any(dim=0).all()
    with pytest.raises(RuntimeError):
        branch(draw(2, config.reach - 1))


def test_a_branch_knows_which_coordinate_is_which() -> None:
    branch = TemporalConvolutions(TcnConfig()).eval()
    halves = draw(4, 64)

    there = branch(halves)
    elsewhere = branch(halves.roll(8, dims=1))

    assert not torch.allclose(there, elsewhere, atol=0.1)


def test_features_are_bounded_whatever_goes_in() -> None:
    features = bound(torch.cat([draw(5, 16), 1e6 * draw(5, 16), 1e-6 * draw(5, 16)]))

    torch.testing.assert_close(features.square().mean(dim=1), torch.ones(15))
    assert torch.equal(bound(torch.zeros(1, 16)), torch.zeros(1, 16))


def test_the_way_around_keeps_the_newest_steps() -> None:
    block = DilatedBlock(2, 2, 3, dilation=4)
    torch.nn.init.zeros_(block.steady_second.weight)
    steps = draw(3, 2, 20)

    assert torch.equal(block(steps), steps[..., 16:])
