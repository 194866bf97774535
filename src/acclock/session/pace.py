"""Whether samples come as fast as time passes: no silence, no backlog, no flood."""

from dataclasses import dataclass

import numpy as np

from acclock.session.reasons import Reason
from acclock.values import BoolArray

_DRIFT = 0.02
"""By which the earphone's clock may run apart from ours, as a share of time."""
_MOST_AHEAD_S = 2.0
"""So many seconds of samples may come before their time, as when a radio empties its buffer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How far the samples of a stream lie behind the time at which they were heard."""

    heard_s: float
    """When samples were last heard."""
    lag_s: float = 0.0
    """How much later than the promptest the last ones came."""
    lead_s: float = 0.0
    """How much earlier than the slowest the last ones came."""
    missing_s: float = 0.0
    """How long nothing has been received, up to the last sample."""


def keep_pace(
    pace: Pace | None, received: BoolArray, *, rate_hz: float, now_s: float, stall_s: float
) -> tuple[Pace, Reason | None]:
    """Take a chunk; say what is wrong with its timing, or ``None``.

    >>> pace, wrong = keep_pace(None, np.ones(50, bool), rate_hz=100.0, now_s=7.0, stall_s=1.0)
    >>> keep_pace(pace, np.ones(50, bool), rate_hz=100.0, now_s=9.0, stall_s=1.0)[1].value
    'stalled'
    """
    longest_s, trailing_s = _find_gaps(received, rate_hz, pace.missing_s if pace else 0.0)
    if pace is None:
        return Pace(heard_s=now_s, missing_s=trailing_s), None
    passed_s = now_s - pace.heard_s
    gained_s = received.size / rate_hz - passed_s
    drift_s = _DRIFT * max(passed_s, 0.0)
    followed = Pace(
        heard_s=now_s,
        lag_s=max(0.0, pace.lag_s - gained_s - drift_s),
        lead_s=max(0.0, pace.lead_s + gained_s - drift_s),
        missing_s=trailing_s,
    )
    return followed, _find_wrong(followed, passed_s, longest_s, stall_s)


def _find_wrong(pace: Pace, passed_s: float, longest_s: float, stall_s: float) -> Reason | None:
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
