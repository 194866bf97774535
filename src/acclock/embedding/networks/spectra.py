"""What the spectrum of a window says about its wearer: fixed measures, nothing learned."""

import math
from itertools import combinations

import torch
from torch import Tensor, nn

from acclock.embedding.networks.config import WindowShape

_FLOOR = 1e-3
"""Power below this share of the window's mean is noise; its logarithm would only shout."""
_SMALLEST = 1e-12


def make_fourier(length: int, frequencies: Tensor) -> Tensor:
    """Give the Hann-tapered cosines and sines that measure frequencies by one product.

    ``frequencies`` are cycles per sample; shape ``(2 * frequency, length)``, cosines first.
    A product exports to every runtime, which a Fourier transform does not.
    """
    moments = torch.arange(length, dtype=torch.float64)
    phases = 2.0 * math.pi * frequencies.to(torch.float64)[:, None] * moments
    taper = torch.hann_window(length, periodic=False, dtype=torch.float64)
    return torch.cat([phases.cos(), -phases.sin()]).mul(taper).to(torch.float32)


class BandSpectra(nn.Module):
    """Windows in; log power by band, strengths of the axes and coherence between them out.

    The coherence between two axes is complex: how alike they move in a band, and which is first.
    Ours (docs/decisions/0030).
    """

    fourier: Tensor
    average: Tensor

    def __init__(self, *, shape: WindowShape, rate_hz: float, bands: int, top_hz: float) -> None:
        super().__init__()
        length = shape.length
        self.pairs = tuple(combinations(range(shape.axes), 2))
        bins = torch.arange(1, length // 2 + 1) * (rate_hz / length)
        edges = torch.linspace(1.0, top_hz, bands + 1)
        inside = (bins >= edges[0]) & (bins < edges[-1])
        band = torch.bucketize(bins[inside], edges, right=True) - 1
        members = nn.functional.one_hot(band, bands).to(torch.float32)
        self.feature_width = (shape.axes + 2 * len(self.pairs)) * bands + shape.axes
        fourier = make_fourier(length, bins[inside] / rate_hz)
        average = members / members.sum(dim=0).clamp_min(1.0)
        self.register_buffer("fourier", fourier, persistent=False)
        self.register_buffer("average", average, persistent=False)

    def forward(self, windows: Tensor) -> Tensor:
        real, imaginary = (windows @ self.fourier.T).chunk(2, dim=2)  # (batch, axis, frequency)
        power = (real.square() + imaginary.square()) @ self.average  # (batch, axis, band)
        strengths = (windows.square().mean(dim=2) + 1e-4).log()
        parts = [log_power(power, dims=(1, 2)).flatten(1), strengths]
        for one, other in self.pairs:
            together = real[:, one] * real[:, other] + imaginary[:, one] * imaginary[:, other]
            apart = imaginary[:, one] * real[:, other] - real[:, one] * imaginary[:, other]
            scale = (power[:, one] * power[:, other] + _SMALLEST).sqrt()
            parts += [(together @ self.average) / scale, (apart @ self.average) / scale]
        return torch.cat(parts, dim=1)


class Spectrogram(nn.Module):
    """Windows in, the power of short stretches of them out: ``(batch, axis, bin, stretch)``."""

    fourier: Tensor

    def __init__(self, *, stretch: int, step: int, rate_hz: float, top_hz: float) -> None:
        super().__init__()
        self.step = step
        self.bins = min(int(top_hz * stretch / rate_hz), stretch // 2)
        frequencies = torch.arange(1, self.bins + 1) / stretch
        self.register_buffer("fourier", make_fourier(stretch, frequencies), persistent=False)

    def forward(self, windows: Tensor) -> Tensor:
        count, axes, length = windows.shape
        # a convolution is the same product, and spares runtimes a copy of every stretch
        waves = nn.functional.conv1d(
            windows.reshape(count * axes, 1, length), self.fourier[:, None], stride=self.step
        )
        real, imaginary = waves.view(count, axes, 2 * self.bins, -1).chunk(2, dim=2)
        return real.square() + imaginary.square()


class SpectrogramStatistics(nn.Module):
    """Windows in; how strong each frequency is on average, and how much that varies, out."""

    def __init__(self, look: Spectrogram, *, axes: int) -> None:
        super().__init__()
        self.look = look
        self.feature_width = 2 * axes * look.bins

    def forward(self, windows: Tensor) -> Tensor:
        power = log_power(self.look(windows), dims=(1, 2, 3))
        mean = power.mean(dim=3)
        spread = ((power - mean[..., None]).square().mean(dim=3) + _SMALLEST).sqrt()
        return torch.cat([mean.flatten(1), spread.flatten(1)], dim=1)


def log_power(power: Tensor, *, dims: tuple[int, ...]) -> Tensor:
    """Give the logarithm of a power above a floor that follows the window's own level."""
    return (power + _FLOOR * power.mean(dim=dims, keepdim=True) + _SMALLEST).log()
