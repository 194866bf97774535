"""Which samples of a live stream may pass: in order, once, finite, and from about now."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np

from acclock.acquisition.kernels import survey
from acclock.values import BoolArray, FloatArray

LONGEST_GAP_S = 2.0
"""After a longer silence the stream begins anew."""
_LARGEST_LEAD_S = 2.0
"""By which a stamp may run ahead of, or fall behind, the listener's clock."""
_DRIFT = 0.02
"""By which the two clocks may run apart, as a share of time: it is followed and not counted."""
_STUBBORN_S = 0.5
"""So many seconds of samples that do not fit, on end, mean that the device's clock was set."""
_STRONGEST = 1e5
"""In m/s²; what lies beyond, no accelerometer has sent."""
_LATEST_S = 1e10

Entry = Literal["pass", "restart", "drop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What a live stream was made of, in samples."""

    accepted: int = 0
    late: int = 0
    """Came after a later one, or long after it was taken."""
    repeated: int = 0
    """Have the stamp of the one before."""
    unstamped: int = 0
    """Have a stamp that is not a time."""
    damaged: int = 0
    """Hold something that is not a number, or stronger than any sensor measures."""
    future: int = 0
    """Were stamped later than the moment in which they were heard."""
    missing: int = 0
    """Should have come between two that did."""
    off_rate: int = 0
    """Were given as not received, because the source did not keep its rate."""
    restarts: int = 0
    """How often, not samples: the stream began anew after a silence or a jump of the clock."""


class Admission:
    """Looks at every sample before it is let in, and counts what is turned away by name."""

    def __init__(self, *, source_hz: float) -> None:
        self._patience = max(3, round(_STUBBORN_S * source_hz))
        self.counter: Counter[str] = Counter()
        self._received_s = 0.0
        self.forget()

    def forget(self) -> None:
        """Begin anew: the next sample is the first."""
        self._last_s: float | None = None
        self._lead_s: float | None = None
        self._strays = 0

    def admit_all(self, stamps_s: FloatArray, samples: FloatArray, received_s: float) -> bool:
        """Let a whole chunk in where nothing is wrong with it, as is usual; else change nothing.

        Says of every sample what ``sort`` would say, without looking at them one by one.
        """
        strongest, shortest_s, longest_s = survey(
            np.ascontiguousarray(stamps_s), np.ascontiguousarray(samples)
        )
        if not stamps_s.size or not strongest <= _STRONGEST:  # false for NaN, too
            return False
        first_s, last_s = float(stamps_s[0]), float(stamps_s[-1])
        lead_s = last_s - received_s if self._lead_s is None else self._lead_s
        step_s = 1.0 if self._last_s is None else first_s - self._last_s
        rising = min(step_s, shortest_s) > 0.0 and max(step_s, longest_s) <= LONGEST_GAP_S
        timely = max(-first_s, last_s) <= _LATEST_S
        if not rising or not timely or not abs(last_s - received_s - lead_s) <= _LARGEST_LEAD_S:
            return False
        self._lead_s, self._last_s, self._strays = lead_s, last_s, 0
        self.counter["accepted"] += stamps_s.size
        self._follow(received_s)
        return True

    def sort(self, stamps_s: FloatArray, samples: FloatArray, received_s: float) -> list[Entry]:
        """Say of each sample whether it passes, and whether the stream begins anew with it."""
        sound: BoolArray = np.all(np.abs(samples) <= _STRONGEST, axis=0)  # a NaN is not
        timely = np.abs(stamps_s) <= _LATEST_S
        if self._lead_s is None and timely.any():
            self._lead_s = float(stamps_s[timely][-1]) - received_s
        stale = self._is_stale(stamps_s[timely], received_s)
        entries = [
            self._admit(stamp, well, when, stale, received_s)
            for stamp, well, when in zip(
                stamps_s.tolist(), sound.tolist(), timely.tolist(), strict=True
            )
        ]
        self._follow(received_s)
        return entries

    def _admit(
        self, stamp_s: float, sound: bool, timely: bool, stale: bool, received_s: float
    ) -> Entry:
        last_s = self._last_s
        if not timely or not sound:
            self.counter["damaged" if timely else "unstamped"] += 1
            return "drop"
        if stale or stamp_s - received_s > (self._lead_s or 0.0) + _LARGEST_LEAD_S:
            return self._doubt(stamp_s, received_s, "late" if stale else "future")
        if last_s is not None and stamp_s <= last_s:
            self.counter["repeated" if stamp_s == last_s else "late"] += 1
            return "drop"
        return self._let_in(stamp_s)

    def _let_in(self, stamp_s: float) -> Entry:
        gap_s = 0.0 if self._last_s is None else stamp_s - self._last_s
        self._last_s, self._strays = stamp_s, 0
        self.counter["accepted"] += 1
        if gap_s <= LONGEST_GAP_S:
            return "pass"
        self.counter["restarts"] += 1
        return "restart"

    def _doubt(self, stamp_s: float, received_s: float, name: str) -> Entry:
        """Turn a sample away whose time cannot be, unless all of them insist."""
        self._strays += 1
        if self._strays < self._patience:
            self.counter[name] += 1
            return "drop"
        self.forget()
        self._lead_s = stamp_s - received_s
        self._let_in(stamp_s)
        self.counter["restarts"] += 1
        return "restart"

    def _is_stale(self, stamps_s: FloatArray, received_s: float) -> bool:
        if self._lead_s is None or not stamps_s.size:
            return False
        return float(stamps_s.max()) - received_s < self._lead_s - _LARGEST_LEAD_S

    def _follow(self, received_s: float) -> None:
        """Let the lead of the device's clock follow a slow drift, and nothing faster."""
        passed_s, self._received_s = max(0.0, received_s - self._received_s), received_s
        if self._last_s is not None and self._lead_s is not None:
            off_s = self._last_s - received_s - self._lead_s
            self._lead_s += max(-_DRIFT * passed_s, min(off_s, _DRIFT * passed_s))
