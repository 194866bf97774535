"""Samples on an even clock while they come, as :mod:`acclock.acquisition.even` has them later."""

import math
from dataclasses import dataclass

import numpy as np

from acclock.acquisition.admission import Admission, Counts
from acclock.acquisition.clock import check_rate
from acclock.acquisition.even import cover, find_ratio
from acclock.acquisition.resampling import find_reach
from acclock.acquisition.slots import Slots, Stretch
from acclock.values import BoolArray, FloatArray

_HOP_S = 0.1
"""Samples are given in hops of this length, however they come."""
_AHEAD_S = 0.27
"""How far the interpolation looks ahead, which is how late it is: from 100 Hz on it is the whole
of the kernel; below, the kernel's end is cut off and an earphone taken out is noticed earlier."""
_BEHIND = 30
"""How many samples of the slower rate it looks back: a little more than the kernel."""
_OFF_RATE = 0.1
"""A source that is further from its rate than this is not the source that it says it is."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EvenSpan:
    """Even samples that follow on the span before, unless the stream began anew."""

    samples: FloatArray
    """m/s², ``(3, n)``; zero where nothing was received."""
    received: BoolArray
    start_s: float
    """When the first sample was taken, by the device's clock."""
    restarted: bool


class LiveClock:
    """Chunks with stamps of the device's clock in, even samples at the model's rate out.

    Nothing is raised for what a source delivers and nothing is invented: what is bad is left out
    and counted, what is missing is zero and not received, and after two seconds of silence the
    stream begins anew. However the samples were cut into chunks, the result is the same; from
    100 Hz on it is that of ``even_out`` but for the ends. Memory does not grow.

    >>> clock = LiveClock(source_hz=100.0, rate_hz=100.0)
    >>> spans = clock.push(np.arange(200) / 100.0, np.ones((3, 200)), 2.0)
    >>> [span.samples.shape for span in spans + clock.finish()]
    [(3, 170), (3, 30)]
    """

    def __init__(self, *, source_hz: float, rate_hz: float) -> None:
        check_rate(source_hz)
        check_rate(rate_hz)
        self._source_hz, self._rate_hz = source_hz, rate_hz
        self._ratio = find_ratio(rate_hz, native_rate_hz=source_hz)
        self._hop = max(1, round(_HOP_S * source_hz))
        self._ahead = round(_AHEAD_S * source_hz)
        self._behind = int(np.ceil(_BEHIND / min(1.0, self._ratio)))
        self._whole = find_reach(self._ratio) < min(self._ahead, self._behind)
        self._admission = Admission(source_hz=source_hz)
        self._off_rate = 0
        self._missing = 0
        self._begin_anew()

    @property
    def counts(self) -> Counts:
        counted = self._admission.counter
        return Counts(**counted, missing=self._missing, off_rate=self._off_rate)

    def push(self, stamps_s: FloatArray, samples: FloatArray, received_s: float) -> list[EvenSpan]:
        """Take a chunk ``(3, n)`` with its stamps, heard at a time of the listener's clock."""
        if self._admission.admit_all(stamps_s, samples, received_s):
            self._take(stamps_s, samples)
            return self._give(self._count() - self._ahead)
        entries = self._admission.sort(stamps_s, samples, received_s)
        spans: list[EvenSpan] = []
        passed: list[int] = []
        for place, entry in enumerate(entries):
            if entry == "restart":
                self._take(stamps_s[passed], samples[:, passed])
                spans += self._give(self._count())
                passed = []
                self._begin_anew()
            if entry != "drop":
                passed.append(place)
        self._take(stamps_s[passed], samples[:, passed])
        return spans + self._give(self._count() - self._ahead)

    def finish(self) -> list[EvenSpan]:
        """Give what is held back, and begin anew: the stream has broken off."""
        spans = self._give(self._count())
        self._begin_anew()
        self._admission.forget()
        return spans

    def _begin_anew(self) -> None:
        self._slots = Slots(self._source_hz)
        self._done = 0  # slots that were given
        self._next = 0  # of the even clock
        self._restarted = True

    def _take(self, stamps_s: FloatArray, samples: FloatArray) -> None:
        self._missing += self._slots.take(stamps_s, samples)

    def _count(self) -> int:
        return len(self._slots)

    def _give(self, until: int) -> list[EvenSpan]:
        """Give all whole hops up to a slot; all there is when that is the last one."""
        origin_s, first = self._slots.origin_s, self._next
        parts: list[tuple[FloatArray, BoolArray]] = []
        if (steady := self._find_steady(until)) is not None:
            parts.append(self._even(steady))
        while self._done + self._hop <= until:
            parts.append(self._even(self._look_around(self._done + self._hop, self._ahead)))
        if until == self._count() > self._done:
            parts.append(self._even(self._look_around(until, 0)))
        self._let_go()
        if origin_s is None or self._next == first:
            return []
        samples, received = parts[0] if len(parts) == 1 else _join(parts)
        span = EvenSpan(
            samples=samples,
            received=received,
            start_s=origin_s + first / self._rate_hz,
            restarted=self._restarted,
        )
        self._restarted = False
        return [span]

    def _find_steady(self, until: int) -> Stretch | None:
        """Find the hops that may be made in one go, which gives what each of them would.

        That is so where the kernel is whole, no stamp jitters, and no hop is copied but the rest.
        """
        end = self._done + (until - self._done) // self._hop * self._hop
        if not self._whole or end <= self._done + self._hop:
            return None
        stretch = self._look_around(end, self._ahead)
        mixed = self._ratio == 1.0 and stretch.mixed
        return None if stretch.jitters or mixed else stretch

    def _look_around(self, until: int, ahead: int) -> Stretch:
        """Take the slots before ``until``, with what lies around them."""
        around = slice(max(0, self._done - self._behind), min(self._count(), until + ahead))
        return Stretch.look(
            until,
            times_s=self._slots.times_s[around],
            rows=self._slots.rows[:, around],
            grid_s=self._list_moments(until),
            hz=self._source_hz,
        )

    def _even(self, stretch: Stretch) -> tuple[FloatArray, BoolArray]:
        """Put a stretch on the even clock."""
        grid_s, hz = stretch.grid_s, self._source_hz
        self._next, self._done = self._next + grid_s.size, stretch.until
        if stretch.times_s.size >= 3 and abs(stretch.measure_period(hz) - 1.0) > _OFF_RATE:
            self._off_rate += grid_s.size
            return np.zeros((3, grid_s.size)), np.zeros(grid_s.size, dtype=bool)
        samples = stretch.read(hz, self._ratio)
        if not self._slots.holes:  # nearly always
            return samples, np.ones(grid_s.size, dtype=bool)
        received = cover(grid_s, 1.0 / self._rate_hz, np.array(self._slots.holes))
        samples[:, ~received] = 0.0
        return samples, received

    def _list_moments(self, until: int) -> FloatArray:
        """Give the times of the even clock, from its next one on, that lie before a slot."""
        if until < self._count():
            end = math.ceil(self._slots.times_s[until] * self._rate_hz - 1e-6)
        else:
            end = int(self._slots.times_s[-1] * self._rate_hz + 1e-6) + 1
        return np.arange(self._next, max(self._next, end)) / self._rate_hz

    def _let_go(self) -> None:
        """Forget what no later sample is made of."""
        cut = max(0, self._done - self._behind)
        self._slots.let_go(cut, (self._next - 1) / self._rate_hz)
        self._done -= cut


def _join(parts: list[tuple[FloatArray, BoolArray]]) -> tuple[FloatArray, BoolArray]:
    samples = np.concatenate([one for one, _ in parts], axis=1)
    return samples, np.concatenate([one for _, one in parts])
