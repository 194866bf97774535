"""A small residual network over time, and how it sums up a window."""

import torch
from torch import Tensor, nn


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
