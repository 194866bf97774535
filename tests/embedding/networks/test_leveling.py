import torch

from acclock.embedding.networks.siamese import level


def test_leveling_ignores_strength_and_keeps_the_axes_and_silence() -> None:
    windows = torch.randn(4, 3, 50, generator=torch.Generator().manual_seed(1))

    torch.testing.assert_close(level(0.01 * windows), level(windows))
    torch.testing.assert_close(level(windows).square().mean(dim=(1, 2)), torch.ones(4))
    assert not level(torch.zeros(1, 3, 50)).any()
