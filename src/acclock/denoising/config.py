"""How acceleration becomes heartbeat: every number of the two stages, written once."""

from dataclasses import dataclass
from math import log2
from typing import Literal, Self, get_args

from acclock.errors import ConfigError

Recovery = Literal["attenuation", "paper", "none"]
"""What stage 2 does to a window that a sporadic event disturbs (docs/decisions/0009)."""

SLOWEST_RATE_HZ = 20.0
FASTEST_RATE_HZ = 1000.0
_LOWEST_KEPT_HZ = 100.0 / 2**7
"""0.78 Hz, where the paper's six levels end at 100 Hz: breathing lies below, hearts above."""
_HIGHEST_KEPT_HZ = 30.0
"""A level that reaches beyond this holds the device's own noise."""


@dataclass(frozen=True, slots=True)
class Band:
    """A range of frequencies.

    >>> print(Band(0.78125, 25.0))
    0.781-25 Hz
    """

    low_hz: float
    high_hz: float

    def __str__(self) -> str:
        return f"{self.low_hz:.3g}-{self.high_hz:.4g} Hz"


@dataclass(frozen=True, slots=True, kw_only=True)
class DenoiseConfig:
    """The two stages at one sampling rate. Defaults are the paper's unless a line says not."""

    rate_hz: float = 100.0
    window_s: float = 4.0
    context_s: float = 20.48
    """How much is denoised to cut a window from its end. Ours: docs/decisions/0006."""
    levels: int = 6
    """Wavelet depth. At 100 Hz level 6 reaches down to 0.78 Hz; breathing lies below."""
    dropped_levels: frozenset[int] = frozenset({1})
    """Detail levels thrown away: level 1 is 25-50 Hz, where only the device speaks."""
    shrink_power: float = 1.0
    """p of Eq. (1). Ours: the paper gives only 'between 1 and 2' (docs/decisions/0004)."""

    least_prominence: float = 0.3
    fastest_bpm: float = 120.0
    """Peaks are at least this far apart; faster hearts get a second look (docs/decisions/0008)."""
    most_interval_variation: float = 0.1
    most_amplitude_variation: float = 0.2

    most_fluctuation: float = 3.0
    """How many times livelier than the calmest quarter of its context a heartbeat may be."""

    recovery: Recovery = "attenuation"
    """Ours: docs/decisions/0009; ``paper`` is the filter of Sec. 4.2.2."""
    local_s: float = 0.8
    """The length over which 'local' deviations are taken. Ours, as are the rest (0004)."""
    headroom: float = 2.0
    """How many times its usual power a level may have before it is attenuated: beats are bursts."""
    motion_sensitivity: float = 0.005
    """kappa of Eq. (2): a window as lively as its reference forgets half a percent a sample."""
    least_forgetting: float = 0.5
    """Below this the filter remembers two samples and only copies."""
    taps: int = 8
    confidence: float = 100.0
    """Starting diagonal of the inverse correlation matrix, and the bound that it never exceeds."""

    def __post_init__(self) -> None:
        if not SLOWEST_RATE_HZ <= self.rate_hz <= FASTEST_RATE_HZ:
            raise ConfigError(
                f"a heartbeat needs {SLOWEST_RATE_HZ:g} to {FASTEST_RATE_HZ:g} samples a second, "
                f"not {self.rate_hz:g}"
            )
        if self.levels < 1:
            raise ConfigError(f"levels must be at least 1, not {self.levels}")
        if stray := self.dropped_levels - set(range(1, self.levels + 1)):
            raise ConfigError(f"cannot drop levels {sorted(stray)} of {self.levels}")
        if len(self.dropped_levels) == self.levels:
            raise ConfigError(f"dropping all {self.levels} levels leaves nothing")
        if not 0 < 2 * self.window_s <= self.context_s:
            raise ConfigError(
                f"a context of {self.context_s:g} s does not hold two windows "
                f"of {self.window_s:g} s"
            )
        if self.recovery not in get_args(Recovery):
            raise ConfigError(
                f"recovery is one of {', '.join(get_args(Recovery))}, not {self.recovery!r}"
            )
        self._check_positive()

    def _check_positive(self) -> None:
        for name in ("shrink_power", "least_prominence", "fastest_bpm", "most_interval_variation",
                     "most_amplitude_variation", "most_fluctuation", "local_s", "headroom",
                     "motion_sensitivity", "least_forgetting", "taps", "confidence"):  # fmt: skip
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be positive, not {getattr(self, name)}")
        if self.least_forgetting > 1:
            raise ConfigError(f"least_forgetting is at most 1, not {self.least_forgetting}")

    @classmethod
    def at_rate(cls, rate_hz: float, *, recovery: Recovery = "attenuation") -> Self:
        """Give the levels that keep the paper's band at another rate.

        Paper: Sec. 4.1.1, and Sec. 7.4.8 for rates below 100 Hz.

        >>> print(DenoiseConfig.at_rate(50.0).retained_band)
        0.781-25 Hz
        """
        if not SLOWEST_RATE_HZ <= rate_hz <= FASTEST_RATE_HZ:
            return cls(rate_hz=rate_hz)
        levels = round(log2(rate_hz / _LOWEST_KEPT_HZ)) - 1
        dropped = {j for j in range(1, levels + 1) if rate_hz / 2**j > _HIGHEST_KEPT_HZ}
        return cls(
            rate_hz=rate_hz, levels=levels, dropped_levels=frozenset(dropped), recovery=recovery
        )

    @property
    def kept_levels(self) -> tuple[int, ...]:
        return tuple(j for j in range(1, self.levels + 1) if j not in self.dropped_levels)

    @property
    def retained_band(self) -> Band:
        """What the kept levels span; the approximation below them is always dropped."""
        kept = self.kept_levels
        return Band(self.rate_hz / 2 ** (kept[-1] + 1), self.rate_hz / 2 ** kept[0])

    @property
    def window_length(self) -> int:
        return round(self.window_s * self.rate_hz)

    @property
    def context_length(self) -> int:
        """The context in samples: the next multiple of what the transform can take."""
        unit = 1 << self.levels
        return unit * -(-round(self.context_s * self.rate_hz) // unit)
