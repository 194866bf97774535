"""The baselines: CNN, LSTM, ResNet50, Conformer, and a plain projection."""

from itertools import pairwise

from torch import Tensor, nn
from torch.nn import functional

from acclock.embedding.networks.config import (
    CnnConfig,
    ConformerConfig,
    LstmConfig,
    ProjectionConfig,
    ResNetConfig,
    WindowShape,
)


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


class Lstm(nn.Module):
    """Windows in, features out by reading sample after sample; the mean of what is remembered.

    Paper: Sec. 7.2.4, baseline LSTM.
    """

    def __init__(self, config: LstmConfig, shape: WindowShape) -> None:
        super().__init__()
        self.feature_width = config.hidden_width
        self.remember = nn.LSTM(
            shape.axes, config.hidden_width, num_layers=config.layers, batch_first=True
        )

    def forward(self, windows: Tensor) -> Tensor:
        memories, _ = self.remember(windows.transpose(1, 2))  # (batch, sample, hidden)
        return memories.mean(dim=1)


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


_CONFORMER_EXPANSION = 4


class Conformer(nn.Module):
    """Windows in, features out by Conformer blocks and their mean over time.

    Paper: Sec. 7.2.4, baseline Conformer. A strided convolution makes the tokens; the order of
    the tokens is told by the depthwise convolutions, so there is no code of positions.
    """

    def __init__(self, config: ConformerConfig, shape: WindowShape) -> None:
        super().__init__()
        self.feature_width = config.model_width
        self.embed = nn.Conv1d(
            shape.axes, config.model_width, 2 * config.stride, stride=config.stride
        )
        self.blocks = nn.Sequential(*(ConformerBlock(config) for _ in range(config.blocks)))

    def forward(self, windows: Tensor) -> Tensor:
        tokens = self.embed(windows).transpose(1, 2)  # (batch, token, model)
        return self.blocks(tokens).mean(dim=1)


class ConformerBlock(nn.Module):
    """Half a feed-forward step, attention, convolution, the other half, each with a way around."""

    def __init__(self, config: ConformerConfig) -> None:
        super().__init__()
        width = config.model_width
        self.think_before = _make_feed_forward(width)
        self.steady = nn.LayerNorm(width)
        self.attend = nn.MultiheadAttention(width, config.heads, batch_first=True)
        self.convolve = ConvolutionModule(width, config.kernel)
        self.think_after = _make_feed_forward(width)
        self.settle = nn.LayerNorm(width)

    def forward(self, tokens: Tensor) -> Tensor:
        tokens = tokens + 0.5 * self.think_before(tokens)
        steady = self.steady(tokens)
        mixed, _ = self.attend(steady, steady, steady, need_weights=False)
        tokens = tokens + mixed
        tokens = tokens + self.convolve(tokens)
        return self.settle(tokens + 0.5 * self.think_after(tokens))


class ConvolutionModule(nn.Module):
    """A gate, a depthwise convolution along the tokens, and a mix of the channels."""

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.steady = nn.LayerNorm(width)
        self.widen = nn.Conv1d(width, 2 * width, 1)
        self.look_around = nn.Conv1d(
            width, width, kernel, padding=kernel // 2, groups=width, bias=False
        )
        self.normalize = nn.BatchNorm1d(width)
        self.mix = nn.Conv1d(width, width, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        steps = self.steady(tokens).transpose(1, 2)  # (batch, model, token)
        steps = functional.glu(self.widen(steps), dim=1)
        steps = functional.silu(self.normalize(self.look_around(steps)))
        return self.mix(steps).transpose(1, 2)


def _make_feed_forward(width: int) -> nn.Sequential:
    return nn.Sequential(
        nn.LayerNorm(width),
        nn.Linear(width, _CONFORMER_EXPANSION * width),
        nn.SiLU(),
        nn.Linear(_CONFORMER_EXPANSION * width, width),
    )


class Projection(nn.Module):
    """Windows in, one linear map of them out.

    Paper: Sec. 7.3, V4, where the Siamese embedding stands alone on the window.
    """

    def __init__(self, config: ProjectionConfig, shape: WindowShape) -> None:
        super().__init__()
        self.feature_width = config.width
        self.project = nn.Linear(shape.axes * shape.length, config.width)

    def forward(self, windows: Tensor) -> Tensor:
        return self.project(windows.flatten(1))
