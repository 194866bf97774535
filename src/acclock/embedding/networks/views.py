"""Measured views of one window, side by side: spectra, and the rhythm of their envelopes."""

import math
from itertools import combinations

import torch
from torch import Tensor, nn

from acclock.embedding.networks.config import ViewsConfig, WindowShape

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


_FOLLOWED_HZ = 25.0
"""How often a strength is read: it changes with the heart, not with the wave."""
_TAPS_S = 0.8
_LONGEST_S = 0.52
"""From the beginning of a beat to the closing of the valves, and a little more."""
_RHYTHM_SMALLEST = 1e-9


class EnvelopeRhythm(nn.Module):
    """Windows in; how the strengths of two bands agree, one some hundredths of a second later.

    A beat is a chain of deflections of different pitch: the valves close with a higher one than
    the blood is thrown with. Their order and distances are the wearer's. Ours
    (docs/decisions/0030).
    """

    filters: Tensor

    def __init__(self, *, rate_hz: float, bands: int, top_hz: float) -> None:
        super().__init__()
        self.bands = bands
        self.stride = max(round(rate_hz / _FOLLOWED_HZ), 1)
        self.lags = round(_LONGEST_S * rate_hz / self.stride)
        self.feature_width = bands**2 * self.lags
        edges = torch.linspace(1.0, top_hz, bands + 1, dtype=torch.float64)
        self.register_buffer("filters", _make_filters(edges, rate_hz), persistent=False)

    def forward(self, windows: Tensor) -> Tensor:
        envelopes = self.follow(windows)
        count, bands, length = envelopes.shape
        padded = nn.functional.pad(envelopes, (0, self.lags - 1))
        later = torch.cat([padded[:, :, lag : lag + length] for lag in range(self.lags)], dim=1)
        agreement = later @ envelopes.transpose(1, 2) / length  # (batch, lag and band, band)
        return agreement.view(count, self.lags, bands, bands).permute(0, 3, 2, 1).flatten(1)

    def follow(self, windows: Tensor) -> Tensor:
        """Give the strength of each band over time, all axes together, of mean 0 and spread 1."""
        count, axes, length = windows.shape
        waves = nn.functional.conv1d(
            windows.reshape(count * axes, 1, length),
            self.filters,
            stride=self.stride,
            padding=self.filters.shape[2] // 2,
        )
        power = waves.square().view(count, axes, 2, self.bands, -1).sum(dim=(1, 2))
        strength = (power + _RHYTHM_SMALLEST).sqrt()
        centered = strength - strength.mean(dim=2, keepdim=True)
        return centered / (centered.square().mean(dim=2, keepdim=True) + _RHYTHM_SMALLEST).sqrt()


def _make_filters(edges: Tensor, rate_hz: float) -> Tensor:
    """Give band-passes and the same a quarter of a wave later: ``(2 * band, 1, tap)``."""
    half = round(_TAPS_S * rate_hz / 2)
    moments = torch.arange(-half, half + 1, dtype=torch.float64) / rate_hz
    taper = torch.hann_window(2 * half + 1, periodic=False, dtype=torch.float64)
    lows, highs = edges[:-1, None], edges[1:, None]
    width, middle = highs - lows, (highs + lows) / 2
    window = torch.sinc(width * moments) * width * taper * (2.0 / rate_hz)
    phases = 2.0 * torch.pi * middle * moments
    return torch.cat([window * phases.cos(), window * phases.sin()])[:, None].to(torch.float32)


TOP_SHARE = 0.4
"""Of the rate: above this share of it sensors differ in how they end."""
_STRETCH_S, _STEP_S = 1.6, 0.2


class Views(nn.Module):
    """Windows in; what their spectrum, its changes and the rhythm of its bands say, out.

    Nothing here is learned. What makes an embedding of it is the head, which weighs every
    direction by how little it varies within a person (:mod:`acclock.training.whitening`).
    Ours (docs/decisions/0030).
    """

    def __init__(self, config: ViewsConfig, shape: WindowShape) -> None:
        super().__init__()
        rate_hz = shape.rate_hz
        top_hz = TOP_SHARE * rate_hz
        views: list[BandSpectra | SpectrogramStatistics | EnvelopeRhythm] = [
            BandSpectra(shape=shape, rate_hz=rate_hz, bands=config.bands, top_hz=top_hz)
        ]
        if config.spectrogram:
            stretch, step = round(_STRETCH_S * rate_hz), round(_STEP_S * rate_hz)
            look = Spectrogram(stretch=stretch, step=step, rate_hz=rate_hz, top_hz=top_hz)
            views.append(SpectrogramStatistics(look, axes=shape.axes))
        if config.rhythm:
            views.append(EnvelopeRhythm(rate_hz=rate_hz, bands=config.rhythm_bands, top_hz=top_hz))
        self.views = nn.ModuleList(views)
        self.feature_width = sum(view.feature_width for view in views)

    def forward(self, windows: Tensor) -> Tensor:
        return torch.cat([view(windows) for view in self.views], dim=1)
