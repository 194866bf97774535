"""From raw acceleration to embedding and quality in one network, for where there is no Python."""

from math import sqrt

import torch
from torch import Tensor, nn
from torch.nn import functional

from acclock.embedding.card import Card
from acclock.errors import ModelError
from acclock.pipeline import Preparation
from acclock.training.filtering import BandPass
from acclock.training.grid import BAND_HZ
from acclock.training.leveling import LeveledModel

QUALITIES = ("rms", "beat_to_noise_db", "fluctuation", "saturated_share")
"""What the columns of the quality are, as :class:`~acclock.denoising.quality.WindowQuality` has
them; ``rms`` is that of the strongest axis between 0.8 and 25 Hz, in m/s²."""

_BEATS_HZ = (0.8, 25.0)
_LIMIT = 15.0
_QUIETEST = 1e-6
_NORMAL = 0.6745 * sqrt(6.0)
"""Median magnitude of the second differences of white noise of variance one."""


class RawModel(nn.Module):
    """Raw contexts ``(batch, 3, n)`` in m/s² in, embeddings and qualities out.

    Ours (docs/decisions/0021). A context has no holes: short gaps are bridged by a line before
    it comes here. The windows are those of the ``bandpass`` preparation.
    """

    def __init__(self, model: LeveledModel, card: Card) -> None:
        super().__init__()
        config = find_linear_preparation(card).config
        self.axes, self.window = card.axes, config.window_length
        self.around = round(config.local_s * config.rate_hz / 2)
        self.prepare = _make_filter(config.context_length, config.rate_hz, BAND_HZ)
        self.find_beats = _make_filter(config.context_length, config.rate_hz, _BEATS_HZ)
        self.model = model

    def forward(self, contexts: Tensor) -> tuple[Tensor, Tensor]:
        windows = self.prepare(contexts)[:, : self.axes, -self.window :]
        return self.model(windows), self.judge(contexts)

    def judge(self, contexts: Tensor) -> Tensor:
        """Give the qualities of the windows at the ends of contexts: ``(batch, quality)``."""
        beats = self.find_beats(contexts)
        rms = beats[..., -self.window :].std(dim=-1, correction=0)
        qualities = (
            rms.amax(dim=1),
            _compare_with_noise(contexts, rms),
            self._measure_fluctuation(beats),
            _measure_saturation(contexts[..., -self.window :]),
        )
        return torch.stack(qualities, dim=1)

    def _measure_fluctuation(self, beats: Tensor) -> Tensor:
        local = functional.avg_pool1d(
            beats.square(), 2 * self.around + 1, 1, self.around, count_include_pad=False
        )
        liveliest = local[..., -self.window :].amax(dim=-1)
        usual = _median(local)
        ratios = torch.where(usual > 0, liveliest / usual.clamp_min(1e-30), 0.0)
        return ratios.amax(dim=1).sqrt()


def find_linear_preparation(card: Card) -> Preparation:
    """Give the preparation of a model if it can be part of a network, or say why it cannot."""
    if card.preparation != "bandpass":
        raise ModelError(
            f"a model for raw acceleration needs the preparation 'bandpass', not"
            f" {card.preparation!r}: its second stage goes sample by sample and remembers"
        )
    return Preparation(name="bandpass", rate_hz=card.rate_hz)


def _make_filter(count: int, rate_hz: float, band_hz: tuple[float, float]) -> BandPass:
    return BandPass(count=count, rate_hz=rate_hz, low_hz=band_hz[0], high_hz=band_hz[1])


def _compare_with_noise(contexts: Tensor, rms: Tensor) -> Tensor:
    noise = _median(contexts.diff(n=2).abs()) / _NORMAL
    ratios = torch.where(noise > 0, rms / noise.clamp_min(1e-30), 0.0).amax(dim=1)
    return torch.where(noise.amax(dim=1) > 0, 20.0 * ratios.clamp_min(_QUIETEST).log10(), 0.0)


def _measure_saturation(windows: Tensor) -> Tensor:
    still = (windows.diff() == 0) & (windows[..., 1:].abs() > _LIMIT)
    return (still[..., 1:] & still[..., :-1]).float().mean(dim=(1, 2))


def _median(values: Tensor) -> Tensor:
    """Give the median along time, the mean of the middle two where there are two."""
    ordered, _ = values.sort(dim=-1)
    count = values.shape[-1]
    return (ordered[..., (count - 1) // 2] + ordered[..., count // 2]) / 2
