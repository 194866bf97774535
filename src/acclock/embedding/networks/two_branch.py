"""A network that reads the wave and its spectrogram side by side."""

import torch
from torch import Tensor, nn

from acclock.embedding.networks.config import TwoBranchConfig, WindowShape
from acclock.embedding.networks.views import TOP_SHARE, Spectrogram, log_power


class ResidualBlock(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, *, kernel: int = 5, stride: int = 1) -> None:
        super().__init__()
        self.convolve = nn.Sequential(
            nn.Conv1d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
            nn.BatchNorm1d(outputs),
            nn.ReLU(),
            nn.Conv1d(outputs, outputs, kernel, 1, kernel // 2, bias=False),
            nn.BatchNorm1d(outputs),
        )
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if same else _make_shortcut(inputs, outputs, stride)

    def forward(self, signals: Tensor) -> Tensor:
        return torch.relu(self.convolve(signals) + self.shortcut(signals))


class AttentiveStatistics(nn.Module):
    """Mean and spread over time, each moment weighed by how much it tells.

    As in speaker recognition (Okabe et al. 2018).
    """

    def __init__(self, channels: int, *, hidden: int = 64) -> None:
        super().__init__()
        self.feature_width = 2 * channels
        self.weigh = nn.Sequential(
            nn.Conv1d(channels, hidden, 1), nn.Tanh(), nn.Conv1d(hidden, channels, 1)
        )

    def forward(self, signals: Tensor) -> Tensor:
        weights = self.weigh(signals).softmax(dim=2)
        mean = (weights * signals).sum(dim=2, keepdim=True)
        spread = ((weights * (signals - mean).square()).sum(dim=2) + 1e-5).sqrt()
        return torch.cat([mean.squeeze(2), spread], dim=1)


class Waveform(nn.Module):
    """Windows in, learned features of their shape in time out."""

    def __init__(self, axes: int, channels: int) -> None:
        super().__init__()
        self.read = nn.Sequential(
            nn.Conv1d(axes, channels, 16, 4, 6, bias=False),
            nn.BatchNorm1d(channels),
            nn.ReLU(),
            ResidualBlock(channels, channels),
            ResidualBlock(channels, 2 * channels, stride=2),
            ResidualBlock(2 * channels, 2 * channels),
            ResidualBlock(2 * channels, 4 * channels, stride=2),
        )
        self.sum_up = AttentiveStatistics(4 * channels)
        self.feature_width = self.sum_up.feature_width

    def forward(self, windows: Tensor) -> Tensor:
        return self.sum_up(self.read(windows))


def _make_shortcut(inputs: int, outputs: int, stride: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv1d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm1d(outputs))


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
