"""How the parts of a beat follow each other: when which frequencies swell."""

import torch
from torch import Tensor, nn

_FOLLOWED_HZ = 25.0
"""How often a strength is read: it changes with the heart, not with the wave."""
_TAPS_S = 0.8
_LONGEST_S = 0.52
"""From the beginning of a beat to the closing of the valves, and a little more."""
_SMALLEST = 1e-9


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
        strength = (power + _SMALLEST).sqrt()
        centered = strength - strength.mean(dim=2, keepdim=True)
        return centered / (centered.square().mean(dim=2, keepdim=True) + _SMALLEST).sqrt()


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
