"""The sizes of every network, written once. The paper gives none of them (docs/decisions/0011)."""

from dataclasses import dataclass

from acclock.embedding.networks.checks import require_positive, require_shared
from acclock.embedding.networks.hidnet_config import EncoderConfig, HIDNetConfig, TcnConfig
from acclock.errors import ConfigError

__all__ = [
    "CnnConfig",
    "ConformerConfig",
    "EncoderConfig",
    "HIDNetConfig",
    "LstmConfig",
    "NetworkConfig",
    "ProjectionConfig",
    "ResNetConfig",
    "TcnConfig",
    "TwoBranchConfig",
    "ViewsConfig",
    "WindowShape",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowShape:
    """What one window looks like: its axes and its samples per axis."""

    axes: int = 1
    length: int = 400
    """Samples per axis: four seconds are 400, 300, 200 or 100 at 100, 75, 50 or 25 Hz."""
    seconds: float = 4.0

    def __post_init__(self) -> None:
        if self.axes not in (1, 3):
            raise ConfigError(f"a window has one axis or three, not {self.axes}")
        require_positive(length=self.length)
        if not self.seconds > 0:
            raise ConfigError(f"a window lasts longer than {self.seconds} s")

    @property
    def rate_hz(self) -> float:
        return self.length / self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class CnnConfig:
    """A plain stack of strided convolutions."""

    channels: int = 32
    """Width of the first block; every block doubles it."""
    kernel: int = 7
    blocks: int = 3

    def __post_init__(self) -> None:
        require_positive(channels=self.channels, kernel=self.kernel, blocks=self.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResNetConfig:
    """ResNet50 along time. The depth is what its name says; only the width is free."""

    width: int = 64

    def __post_init__(self) -> None:
        require_positive(width=self.width)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformerConfig:
    """Attention and convolution in turns."""

    model_width: int = 96
    heads: int = 4
    blocks: int = 2
    kernel: int = 15
    """Taps of the depthwise convolution; odd, so that it is centered."""
    stride: int = 4
    """Samples per token."""

    def __post_init__(self) -> None:
        require_positive(blocks=self.blocks, kernel=self.kernel, stride=self.stride)
        require_shared(self.model_width, self.heads)
        if self.kernel % 2 == 0:
            raise ConfigError(f"a centered kernel has an odd number of taps, not {self.kernel}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LstmConfig:
    """Two layers of memory over the samples."""

    hidden_width: int = 128
    layers: int = 2

    def __post_init__(self) -> None:
        require_positive(hidden_width=self.hidden_width, layers=self.layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionConfig:
    """One linear map of the window: what is left when HIDNet is taken away."""

    width: int = 128

    def __post_init__(self) -> None:
        require_positive(width=self.width)


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewsConfig:
    """How finely a window is measured, and by which of the views."""

    spectrogram: bool = True
    rhythm: bool = True
    """Without these two only the spectrum is left."""
    bands: int = 35
    """Of the spectrum and the coherence: a little over 1 Hz each at 100 Hz."""
    rhythm_bands: int = 8
    """Whose strengths are followed over time: 5 Hz each, so that they can change in 0.2 s."""

    def __post_init__(self) -> None:
        require_positive(bands=self.bands, rhythm_bands=self.rhythm_bands)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoBranchConfig:
    """A residual network over the wave beside one over the spectrogram."""

    channels: int = 24
    """Width of the wave's first block; the last has four times as many."""
    pitch_channels: int = 96
    """Width of the spectrogram's blocks."""

    def __post_init__(self) -> None:
        require_positive(channels=self.channels, pitch_channels=self.pitch_channels)


NetworkConfig = (
    HIDNetConfig
    | CnnConfig
    | ResNetConfig
    | ConformerConfig
    | LstmConfig
    | ProjectionConfig
    | TwoBranchConfig
    | ViewsConfig
)
