"""What a live source delivers: chunks of samples, and the breaks between them."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal

from acclock.errors import SignalError
from acclock.values import FloatArray

BreakReason = Literal["disconnect", "removed", "end", "stall", "garbage", "failure"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chunk:
    """Samples as the radio happened to deliver them, in order of their stamps.

    >>> import numpy as np
    >>> Chunk(samples=np.zeros((3, 2)), stamps_s=np.array([0.0, 0.01]), heard_s=5.0).count
    2
    """

    samples: FloatArray
    """Acceleration in m/s², one row per axis: shape ``(3, n)``. A NaN is a sample that is bad."""
    stamps_s: FloatArray
    """When each sample was taken, in seconds of the device's own clock: shape ``(n,)``."""
    heard_s: float
    """When the chunk arrived, in seconds of the listener's monotonic clock."""
    lost: int = 0
    """How many samples the source knows to have been lost just before this chunk."""

    def __post_init__(self) -> None:
        if self.samples.ndim != 2 or self.samples.shape[0] != 3:
            raise SignalError(f"a chunk has three axes in rows; this has {self.samples.shape}")
        if self.stamps_s.shape != self.samples.shape[1:]:
            raise SignalError(
                f"a chunk of {self.samples.shape[1]} samples has {self.stamps_s.size} stamps"
            )
        if not isfinite(self.heard_s) or self.lost < 0:
            raise SignalError("a chunk is heard at a finite time and has not lost less than none")

    @property
    def count(self) -> int:
        return int(self.stamps_s.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """The stream broke off here: whatever comes next must prove itself anew."""

    reason: BreakReason
    heard_s: float
