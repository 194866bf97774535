"""The sizes of every network, written once. The paper gives none of them (docs/decisions/0011)."""

from dataclasses import dataclass, field

from acclock.errors import ConfigError


def require_positive(**sizes: int) -> None:
    """Refuse a size below one, by its name."""
    for name, size in sizes.items():
        if size < 1:
            raise ConfigError(f"{name} must be at least 1, not {size}")


def require_shared(width: int, heads: int) -> None:
    """Refuse a width that does not fall to so many heads in equal parts."""
    if width < 1 or width % heads:
        raise ConfigError(f"a width of {width} cannot be shared out among {heads} heads")


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderConfig:
    """How the shared encoder reads a window."""

    patch_s: float = 0.2
    """Length of a patch, L of the paper: about one deflection of the beat, whatever the rate. It
    divides the window at every rate that is served."""
    model_width: int = 96
    """Width of a patch's token, d."""
    heads: int = 4
    embedding_width: int = 128
    """Width of the shared embedding before it is split, d_e."""

    def __post_init__(self) -> None:
        require_positive(model_width=self.model_width, heads=self.heads)
        require_shared(self.model_width, self.heads)
        if self.embedding_width < 2 or self.embedding_width % 2:
            raise ConfigError(
                f"the embedding is split in halves: its width is even, not {self.embedding_width}"
            )
        if not self.patch_s > 0:
            raise ConfigError(f"a patch lasts longer than {self.patch_s} s")

    def measure_patch(self, rate_hz: float) -> int:
        """Give the samples of a patch at a rate.

        >>> [EncoderConfig().measure_patch(rate_hz) for rate_hz in (100.0, 25.0)]
        [20, 5]
        """
        return max(1, round(self.patch_s * rate_hz))


@dataclass(frozen=True, slots=True, kw_only=True)
class TcnConfig:
    """How a branch reads its half of the embedding."""

    channels: int = 48
    kernel: int = 3
    levels: int = 4
    """Residual blocks of two convolutions; the dilation doubles from each to the next."""

    def __post_init__(self) -> None:
        require_positive(channels=self.channels, levels=self.levels)
        if self.kernel < 2:
            raise ConfigError(f"a kernel of {self.kernel} sees no neighbors; it needs two or more")

    @property
    def reach(self) -> int:
        """How many coordinates one step of the output has seen."""
        return 1 + 2 * (self.kernel - 1) * ((1 << self.levels) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class HIDNetConfig:
    """The whole of HIDNet."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    branch: TcnConfig = field(default_factory=TcnConfig)
    axis_width: int = 32
    """Width of an axis' token in the channel attention; unused with a single axis."""
    decoder_width: int = 256

    def __post_init__(self) -> None:
        require_positive(axis_width=self.axis_width, decoder_width=self.decoder_width)
        require_shared(self.axis_width, self.encoder.heads)
        half = self.encoder.embedding_width // 2
        if half < self.branch.reach:
            raise ConfigError(
                f"a branch that reaches over {self.branch.reach} coordinates needs a half-embedding"
                f" at least as wide, not {half}"
            )


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
