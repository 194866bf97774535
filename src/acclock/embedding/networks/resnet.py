"""The baseline ResNet50, along time."""

from torch import Tensor, nn
from torch.nn import functional

from acclock.embedding.networks.config import ResNetConfig, WindowShape

_BLOCKS = (3, 4, 6, 3)
_EXPANSION = 4


class ResNet50(nn.Module):
    """Windows in, features out by fifty layers with ways around them.

    Paper: Sec. 7.2.4, baseline ResNet50. Images have become windows and nothing else has changed:
    a stem, four stages of 3, 4, 6 and 3 bottlenecks, and the mean over time.
    """

    def __init__(self, config: ResNetConfig, shape: WindowShape) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv1d(shape.axes, config.width, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm1d(config.width),
            nn.ReLU(),
            nn.MaxPool1d(3, stride=2, padding=1),
        )
        blocks, inputs = [], config.width
        for stage, count in enumerate(_BLOCKS):
            width = config.width * 2**stage
            for block in range(count):
                blocks.append(Bottleneck(inputs, width, stride=2 if stage and not block else 1))
                inputs = width * _EXPANSION
        self.blocks = nn.Sequential(*blocks)
        self.feature_width = inputs

    def forward(self, windows: Tensor) -> Tensor:
        return self.blocks(self.stem(windows)).mean(dim=2)


class Bottleneck(nn.Module):
    """Narrow, look around, widen; and a way around it all."""

    def __init__(self, inputs: int, width: int, *, stride: int) -> None:
        super().__init__()
        outputs = width * _EXPANSION
        self.through = nn.Sequential(
            *_convolve(inputs, width, 1),
            nn.ReLU(),
            *_convolve(width, width, 3, stride=stride),
            nn.ReLU(),
            *_convolve(width, outputs, 1),
        )
        same = inputs == outputs and stride == 1
        self.around = (
            nn.Identity() if same else nn.Sequential(*_convolve(inputs, outputs, 1, stride=stride))
        )

    def forward(self, steps: Tensor) -> Tensor:
        return functional.relu(self.around(steps) + self.through(steps))


def _convolve(inputs: int, outputs: int, kernel: int, *, stride: int = 1) -> list[nn.Module]:
    convolution = nn.Conv1d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=False)
    return [convolution, nn.BatchNorm1d(outputs)]
