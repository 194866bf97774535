"""The sizes of HIDNet, written once. The paper gives none of them (docs/decisions/0011)."""

from dataclasses import dataclass, field

from acclock.embedding.networks.checks import require_positive, require_shared
from acclock.errors import ConfigError


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
