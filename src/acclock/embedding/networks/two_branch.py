"""A network that reads the wave and its spectrogram side by side."""

import torch
from torch import Tensor, nn

from acclock.embedding.networks.config import TwoBranchConfig, WindowShape
from acclock.embedding.networks.residual import AttentiveStatistics, ResidualBlock, Waveform
from acclock.embedding.networks.spectra import Spectrogram, log_power
from acclock.embedding.networks.views import TOP_SHARE

_STRETCH_S, _STEP_S = 0.8, 0.2


class TimeFrequency(nn.Module):
    """Windows in, learned features of their spectrogram out."""

    def __init__(self, *, shape: WindowShape, channels: int) -> None:
        super().__init__()
        rate_hz = shape.rate_hz
        stretch, step = round(_STRETCH_S * rate_hz), round(_STEP_S * rate_hz)
        self.look = Spectrogram(
            stretch=stretch, step=step, rate_hz=rate_hz, top_hz=TOP_SHARE * rate_hz
        )
        rows = shape.axes * self.look.bins
        self.read = nn.Sequential(
            nn.BatchNorm1d(rows),
            nn.Conv1d(rows, channels, 3, 1, 1),
            nn.BatchNorm1d(channels),
            nn.ReLU(),
            ResidualBlock(channels, channels, kernel=3),
        )
        self.sum_up = AttentiveStatistics(channels)
        self.feature_width = self.sum_up.feature_width

    def forward(self, windows: Tensor) -> Tensor:
        power = self.look(windows)
        return self.sum_up(self.read(log_power(power, dims=(1, 2, 3)).flatten(1, 2)))


class TwoBranch(nn.Module):
    """Windows in, the learned features of both branches out. Ours (docs/decisions/0030)."""

    def __init__(self, config: TwoBranchConfig, shape: WindowShape) -> None:
        super().__init__()
        self.waveform = Waveform(shape.axes, config.channels)
        self.spectrogram = TimeFrequency(shape=shape, channels=config.pitch_channels)
        self.feature_width = self.waveform.feature_width + self.spectrogram.feature_width

    def forward(self, windows: Tensor) -> Tensor:
        return torch.cat([self.waveform(windows), self.spectrogram(windows)], dim=1)
