"""The temporal convolutional network that reads a half-embedding."""

from torch import Tensor, nn
from torch.nn import functional

from acclock.embedding.networks.config import TcnConfig


class TemporalConvolutions(nn.Module):
    """Half-embeddings in, features of known length out: ``(batch, channel)``.

    Paper: Secs. 5.3 and 5.4, the TCN of either branch. Ours (docs/decisions/0011): the vector is
    read as a sequence with one coordinate per step, without padding, so that the few steps that
    are left at the end have each seen nearly all coordinates; their mean is the feature. It is
    scaled to a mean square of one: unbounded, the adversary's loss runs away.
    """

    def __init__(self, config: TcnConfig) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for level in range(config.levels):
            inputs = config.channels if level else 1
            block = ResidualBlock(inputs, config.channels, config.kernel, dilation=2**level)
            layers += [block, nn.ReLU()]
        # No rectifier after the last block: features of one sign would all lie close together.
        self.layers = nn.Sequential(*layers[:-1])

    def forward(self, halves: Tensor) -> Tensor:
        steps = self.layers(halves.unsqueeze(1))  # (batch, channel, step)
        return bound(steps.mean(dim=2))


class ResidualBlock(nn.Module):
    """Two dilated convolutions and a way around them."""

    def __init__(self, inputs: int, channels: int, kernel: int, *, dilation: int) -> None:
        super().__init__()
        # A bias before a batch normalization is subtracted again and would never learn.
        self.first = nn.Conv1d(inputs, channels, kernel, dilation=dilation, bias=False)
        self.steady_first = nn.BatchNorm1d(channels)
        self.second = nn.Conv1d(channels, channels, kernel, dilation=dilation, bias=False)
        self.steady_second = nn.BatchNorm1d(channels)
        self.widen = nn.Identity() if inputs == channels else nn.Conv1d(inputs, channels, 1)

    def forward(self, steps: Tensor) -> Tensor:
        news = functional.relu(self.steady_first(self.first(steps)))
        news = self.steady_second(self.second(news))
        around = self.widen(steps[..., -news.shape[-1] :])
        return around + news


def bound(features: Tensor) -> Tensor:
    """Scale every feature vector to a mean square of one; a zero vector stays zero."""
    return functional.normalize(features, dim=1) * features.shape[1] ** 0.5
