"""Stretches of time in which nothing was received."""

from dataclasses import dataclass

import numpy as np

from acclock.acquisition.clock import Clock
from acclock.values import BoolArray, FloatArray, Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A stretch in which no sample was received, counted from the start of the recording."""

    start_s: float
    length_s: float


def gaps_of(recording: Recording) -> tuple[Gap, ...]:
    """List the stretches of a recording that were not received."""
    return name_gaps(holes_of(recording))


def holes_of(recording: Recording) -> FloatArray:
    """Give the begin and end of each stretch that was not received, one hole per row.

    A sample stands for the time half a period before and after it.
    """
    missing = np.concatenate(([False], ~recording.received, [False]))
    edges = np.flatnonzero(missing[1:] != missing[:-1]).reshape(-1, 2)
    return np.asarray((edges - 0.5) / recording.rate_hz, dtype=np.float64)


def find_holes(times_s: FloatArray, clock: Clock) -> FloatArray:
    """Give the begin and end of each silence between time stamps, one hole per row."""
    half_s = 0.5 / clock.rate_hz
    begins, ends = times_s[:-1][clock.silent] + half_s, times_s[1:][clock.silent] - half_s
    return np.stack([begins, ends], axis=1)


def cover(grid_s: FloatArray, period_s: float, holes: FloatArray) -> BoolArray:
    """Tell which samples had more than half of their time outside of the holes."""
    if not holes.size:
        return np.ones(grid_s.size, dtype=bool)
    lost_after = np.cumsum(holes[:, 1] - holes[:, 0])
    lost_before = np.concatenate(([0.0], lost_after[:-1]))
    lost = np.stack([lost_before, lost_after], axis=1).ravel()
    begins = np.interp(grid_s - period_s / 2, holes.ravel(), lost)
    ends = np.interp(grid_s + period_s / 2, holes.ravel(), lost)
    return np.asarray(ends - begins < (0.5 - 1e-9) * period_s)


def name_gaps(holes: FloatArray) -> tuple[Gap, ...]:
    """List holes as gaps."""
    return tuple(Gap(start_s=float(begin), length_s=float(end - begin)) for begin, end in holes)
