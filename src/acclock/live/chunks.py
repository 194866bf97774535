"""What a live source delivers: chunks, breaks, and whether they keep pace with time."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal

import numpy as np

from acclock.errors import SignalError
from acclock.live.answers import Reason
from acclock.values import BoolArray, FloatArray

BreakReason = Literal["disconnect", "removed", "end", "stall", "garbage", "failure"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chunk:
    """Samples as the radio happened to deliver them, in order of their stamps.

    >>> import numpy as np
    >>> Chunk(samples=np.zeros((3, 2)), stamps_s=np.array([0.0, 0.01]), received_s=5.0).count
    2
    """

    samples: FloatArray
    """Acceleration in m/s², one row per axis: shape ``(3, n)``. A NaN is a sample that is bad."""
    stamps_s: FloatArray
    """When each sample was taken, in seconds of the device's own clock: shape ``(n,)``."""
    received_s: float
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
        if not isfinite(self.received_s) or self.lost < 0:
            raise SignalError("a chunk is heard at a finite time and has not lost less than none")

    @property
    def count(self) -> int:
        return int(self.stamps_s.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """The stream broke off here: whatever comes next must prove itself anew."""

    reason: BreakReason
    received_s: float


_DRIFT = 0.02
"""By which the earphone's clock may run apart from ours, as a share of time."""
_MOST_AHEAD_S = 2.0
"""So many seconds of samples may come before their time, as when a radio empties its buffer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPace:
    """How far the samples of a stream lie behind the time at which they were heard."""

    received_s: float
    """When samples were last heard."""
    lag_s: float = 0.0
    """How much later than the promptest the last ones came."""
    lead_s: float = 0.0
    """How much earlier than the slowest the last ones came."""
    missing_s: float = 0.0
    """How long nothing has been received, up to the last sample."""


def keep_pace(
    pace: StreamPace | None, received: BoolArray, *, rate_hz: float, now_s: float, stall_s: float
) -> tuple[StreamPace, Reason | None]:
    """Take a chunk; say what is wrong with its timing, or ``None``.

    >>> pace, wrong = keep_pace(None, np.ones(50, bool), rate_hz=100.0, now_s=7.0, stall_s=1.0)
    >>> keep_pace(pace, np.ones(50, bool), rate_hz=100.0, now_s=9.0, stall_s=1.0)[1].value
    'stalled'
    """
    longest_s, trailing_s = _find_gaps(received, rate_hz, pace.missing_s if pace else 0.0)
    if pace is None:
        return StreamPace(received_s=now_s, missing_s=trailing_s), None
    passed_s = now_s - pace.received_s
    gained_s = received.size / rate_hz - passed_s
    drift_s = _DRIFT * max(passed_s, 0.0)
    followed = StreamPace(
        received_s=now_s,
        lag_s=max(0.0, pace.lag_s - gained_s - drift_s),
        lead_s=max(0.0, pace.lead_s + gained_s - drift_s),
        missing_s=trailing_s,
    )
    return followed, _find_wrong(followed, passed_s, longest_s, stall_s)


def _find_wrong(
    pace: StreamPace, passed_s: float, longest_s: float, stall_s: float
) -> Reason | None:
    if passed_s < 0.0 or pace.lead_s > _MOST_AHEAD_S:
        return Reason.CLOCK
    if passed_s > stall_s:
        return Reason.STALLED
    if longest_s > stall_s:
        return Reason.GAP
    return Reason.STALE if pace.lag_s > stall_s else None


def _find_gaps(received: BoolArray, rate_hz: float, before_s: float) -> tuple[float, float]:
    """Give the longest stretch without a sample, and the one at the end."""
    if received.size and received.all():  # nearly always
        return before_s, 0.0
    edges = np.concatenate(([-1], np.flatnonzero(received), [received.size]))
    runs = (np.diff(edges) - 1) / rate_hz
    runs[0] += before_s
    return float(runs.max()), float(runs[-1])
