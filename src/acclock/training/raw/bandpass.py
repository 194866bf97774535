"""The band-pass of the pipeline as part of a network."""

import numpy as np
import torch
from torch import Tensor, nn

from acclock.denoising.bandpass import EDGE_S, bandpass
from acclock.training.raw.fourier import Fourier, scale
from acclock.values import FloatArray


class BandPass(nn.Module):
    """Contexts in, the same contexts with only a band left, as :func:`bandpass` gives them.

    Ours (docs/decisions/0023).
    """

    def __init__(self, count: int, rate_hz: float, band_hz: tuple[float, float]) -> None:
        super().__init__()
        self.edge = int(EDGE_S * rate_hz)
        self.fourier = Fourier(count + 2 * self.edge)
        self.gains: Tensor
        gains = _measure_gains(count, self.edge, rate_hz, band_hz)
        self.register_buffer("gains", self.fourier.lay_out(gains))

    def forward(self, contexts: Tensor) -> Tensor:
        centered = contexts - contexts.mean(dim=-1, keepdim=True)
        spectra = scale(self.fourier(_mirror_ends(centered, self.edge)), self.gains)
        return self.fourier.turn_back(spectra)[..., self.edge : -self.edge]


def _measure_gains(
    count: int, edge: int, rate_hz: float, band_hz: tuple[float, float]
) -> FloatArray:
    """Ask the filter itself, by an impulse so far from both ends that neither is heard."""
    impulse = np.zeros(count)
    impulse[count // 2] = 1.0
    kernel = bandpass(impulse, rate_hz=rate_hz, low_hz=band_hz[0], high_hz=band_hz[1])
    ring = np.roll(np.pad(kernel, (0, 2 * edge)), -(count // 2))
    return np.asarray(np.fft.rfft(ring).real)


def _mirror_ends(signals: Tensor, edge: int) -> Tensor:
    before = 2 * signals[..., :1] - signals[..., 1 : edge + 1].flip(-1)
    after = 2 * signals[..., -1:] - signals[..., -edge - 1 : -1].flip(-1)
    return torch.cat([before, signals, after], dim=-1)
