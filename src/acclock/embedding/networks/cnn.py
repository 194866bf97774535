"""The baseline that only convolves."""

from itertools import pairwise

from torch import Tensor, nn

from acclock.embedding.networks.config import CnnConfig, WindowShape


class Cnn(nn.Module):
    """Windows in, features out by strided convolutions and their mean over time.

    Paper: Sec. 7.2.4, baseline CNN.
    """

    def __init__(self, config: CnnConfig, shape: WindowShape) -> None:
        super().__init__()
        widths = [shape.axes] + [config.channels * 2**block for block in range(config.blocks)]
        self.feature_width = widths[-1]
        self.blocks = nn.Sequential(
            *(_make_block(inputs, outputs, config.kernel) for inputs, outputs in pairwise(widths))
        )

    def forward(self, windows: Tensor) -> Tensor:
        return self.blocks(windows).mean(dim=2)


def _make_block(inputs: int, outputs: int, kernel: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv1d(inputs, outputs, kernel, stride=2, padding=kernel // 2, bias=False),
        nn.BatchNorm1d(outputs),
        nn.ReLU(),
    )
