"""The baseline that attends and convolves in turns."""

from torch import Tensor, nn
from torch.nn import functional

from acclock.embedding.networks.config import ConformerConfig, WindowShape

_EXPANSION = 4


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
        nn.Linear(width, _EXPANSION * width),
        nn.SiLU(),
        nn.Linear(_EXPANSION * width, width),
    )
