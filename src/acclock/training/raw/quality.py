"""How good a window is, as far as a network without loops can say."""

import torch
from torch import Tensor, nn

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.liveliness import LIMIT, QUIETEST, SECOND_DIFFERENCE, THIN
from acclock.denoising.quality import BEATS_HZ
from acclock.training.raw.bandpass import BandPass
from acclock.training.raw.order import measure_local_power, median

QUALITIES = ("rms", "beat_to_noise_db", "fluctuation", "saturated_share")
"""What the columns of the quality are, as :class:`~acclock.denoising.quality.WindowQuality` has
them; ``rms`` is that of the strongest axis between 0.8 and 25 Hz, in m/s²."""


class Quality(nn.Module):
    """Contexts in, the qualities of the windows at their ends out: ``(batch, quality)``."""

    def __init__(self, config: DenoiseConfig) -> None:
        super().__init__()
        self.window = config.window_length
        self.around = round(config.local_s * config.rate_hz / 2)
        self.find_beats = BandPass(config.context_length, config.rate_hz, BEATS_HZ).float()

    def forward(self, contexts: Tensor) -> Tensor:
        beats = self.find_beats(contexts)
        rms = beats[..., -self.window :].std(dim=-1, correction=0)
        noise = median(contexts.diff(n=2).abs()) / SECOND_DIFFERENCE
        rise = (rms / noise.clamp_min(QUIETEST)).amax(dim=1)
        qualities = (
            rms.amax(dim=1),
            20.0 * rise.clamp_min(QUIETEST).log10(),
            self._measure_fluctuation(beats),
            _measure_saturation(contexts[..., -self.window :]),
        )
        return torch.stack(qualities, dim=1)

    def _measure_fluctuation(self, beats: Tensor) -> Tensor:
        local = measure_local_power(beats, self.around)
        liveliest = local[..., -self.window :].amax(dim=-1).sqrt()
        usual = median(local[..., ::THIN]).sqrt()
        return (liveliest / usual.clamp_min(QUIETEST)).amax(dim=1)


def _measure_saturation(windows: Tensor) -> Tensor:
    still = (windows.diff() == 0) & (windows[..., 1:].abs() > LIMIT)
    return (still[..., 1:] & still[..., :-1]).float().mean(dim=(1, 2))
