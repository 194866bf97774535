"""The weights of the three axes."""

import pytest
import torch
from torch import Tensor

from acclock.embedding.networks.hidnet import AxisAttention


def draw(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.paper("Sec. 7.4.4")
def test_the_axes_share_out_a_weight_of_one_each() -> None:
    attention = AxisAttention(axes=3, patch_length=20, width=8, heads=2)
    windows = draw(6, 3, 400) * torch.tensor([5.0, 1.0, 0.2])[:, None]

    weights = attention.weigh(windows)

    assert (weights > 0).all()
    torch.testing.assert_close(weights.mean(dim=1), torch.ones(6))
    torch.testing.assert_close(attention(windows), windows * weights[:, :, None])


@pytest.mark.paper("Sec. 7.4.4")
def test_the_axes_learn_to_be_weighed_by_how_reliable_they_are() -> None:
    torch.manual_seed(3)
    attention = AxisAttention(axes=3, patch_length=20, width=16, heads=2)
    optimizer = torch.optim.Adam(attention.parameters(), lr=0.01)
    clean = torch.sin(torch.linspace(0, 30, 200)).expand(32, 3, 200)
    worst = torch.arange(32) % 3
    noise = 3.0 * draw(32, 200)
    windows = clean.clone()
    windows[torch.arange(32), worst] += noise

    for _ in range(60):
        loss = (attention(windows).mean(dim=1) - clean[:, 0]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    assert (attention.weigh(windows).argmin(dim=1) == worst).float().mean() > 0.9
