"""HIDNet as a whole: what it tells, and which way the gradient turns."""

import pytest
import torch
from torch import Tensor

from acclock.embedding.networks.config import HIDNetConfig, WindowShape
from acclock.embedding.networks.hidnet import HIDNet


def draw(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def make_hidnet(axes: int = 1) -> HIDNet:
    torch.manual_seed(7)
    shape = WindowShape(axes=axes)
    return HIDNet(HIDNetConfig(), shape=shape, people=22, reconstructs=True)


@pytest.mark.parametrize("gain", [1e-3, 1.0, 1e4])
def test_both_features_are_bounded_before_anything_reads_them(gain: float) -> None:
    outputs = make_hidnet().eval().outputs(gain * draw(8, 1, 400), reversal=1.0)

    assert outputs.nuisance is not None
    for features in (outputs.identity, outputs.nuisance):
        torch.testing.assert_close(features.square().mean(dim=1), torch.ones(8))


@pytest.mark.paper("Sec. 5.4")
def test_the_adversary_teaches_the_nuisance_branch_backwards() -> None:
    people = torch.arange(8)
    gradients = {}
    for strength in (0.0, 1.0, -1.0):
        network = make_hidnet().eval()
        outputs = network.outputs(draw(8, 1, 400), reversal=strength)
        assert outputs.nuisance_logits is not None
        torch.nn.functional.cross_entropy(outputs.nuisance_logits, people).backward()
        gradients[strength] = network.encode.embed.weight.grad
        assert network.betray_person.weight.grad is not None
        assert network.betray_person.weight.grad.abs().max() > 0
        assert network.name_person.weight.grad is None

    forwards = gradients[-1.0]
    assert forwards is not None
    torch.testing.assert_close(gradients[1.0], -forwards)
    torch.testing.assert_close(gradients[0.0], torch.zeros_like(forwards))


def test_features_are_those_of_the_training_forward() -> None:
    network = make_hidnet(axes=3).eval()
    windows = draw(4, 3, 400)

    outputs = network.outputs(windows, reversal=1.0)

    torch.testing.assert_close(network(windows), outputs.identity)
    assert outputs.reconstruction is not None
    assert outputs.reconstruction.shape == windows.shape


@pytest.mark.parametrize("axes", [1, 3])
def test_hidnet_stays_small(axes: int) -> None:
    count = sum(parameter.numel() for parameter in make_hidnet(axes).parameters())

    assert count <= 650_000
