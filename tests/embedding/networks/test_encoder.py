"""Patches, and the two halves that the encoder makes of them."""

import pytest
import torch
from torch import Tensor

from acclock.embedding.networks.config import EncoderConfig, WindowShape
from acclock.embedding.networks.hidnet import SharedEncoder, cut_patches
from acclock.errors import ConfigError


def draw(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.paper("Sec. 5.2")
@pytest.mark.parametrize(("length", "count"), [(40, 4), (49, 4), (50, 5), (10, 1)])
def test_patches_do_not_overlap_and_leave_out_the_rest(length: int, count: int) -> None:
    windows = torch.arange(2.0 * 3 * length).reshape(2, 3, length)

    patches = cut_patches(windows, 10)

    assert patches.shape == (2, 3, count, 10)
    assert torch.equal(patches.flatten(2), windows[..., : 10 * count])


@pytest.mark.paper("Eq. 3")
def test_the_encoder_gives_the_halves_of_the_projected_mean() -> None:
    config = EncoderConfig(patch_s=1.0, model_width=8, heads=2, embedding_width=6)
    encoder = SharedEncoder(config, WindowShape(axes=3, length=40)).eval()
    windows = draw(2, 3, 40)

    identity, nuisance = encoder(windows)

    for row, window in enumerate(windows):
        tokens = torch.stack(
            [encoder.embed(window[:, start : start + 10].flatten()) for start in (0, 10, 20, 30)]
        )
        mixed, _ = encoder.attend(tokens[None], tokens[None], tokens[None])
        embedding = encoder.project(mixed[0].mean(dim=0))
        torch.testing.assert_close(identity[row], embedding[:3])
        torch.testing.assert_close(nuisance[row], embedding[3:])


def test_a_window_shorter_than_a_patch_is_refused() -> None:
    with pytest.raises(ConfigError, match="a window of 19 samples has no patch of 20"):
        SharedEncoder(EncoderConfig(), WindowShape(length=19, seconds=0.19))


@pytest.mark.parametrize("rate_hz", [100, 75, 50, 25])
def test_a_patch_lasts_as_long_at_every_rate_and_leaves_nothing_out(rate_hz: int) -> None:
    encoder = SharedEncoder(EncoderConfig(), WindowShape(length=4 * rate_hz))

    assert encoder.patch_length == rate_hz / 5
    assert cut_patches(draw(1, 1, 4 * rate_hz), encoder.patch_length).shape[2] == 20
