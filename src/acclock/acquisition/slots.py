"""Samples of a live stream in the slots of their clock, and the even moments between."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from acclock.acquisition.even import JITTER, refine
from acclock.acquisition.kernels import count_steps, place
from acclock.acquisition.resampling import WHOLE, interpolate
from acclock.values import FloatArray

_LATE = 0.75
"""A sample later than this share of a period after it was due has lost others before it."""
_CATCH_UP = 0.1
"""Share of its error by which the clock that says when a sample is due follows the stamps."""


class Slots:
    """One for each tick of a device's clock since the stream began, lost samples included."""

    def __init__(self, source_hz: float) -> None:
        self._source_hz = source_hz
        self._due_s = 0.0
        self.origin_s: float | None = None
        """When the first sample was taken; nothing before it came."""
        self.times_s = np.empty(0)
        """Since the origin."""
        self.rows = np.empty((3, 0))
        self.holes: list[tuple[float, float]] = []
        """Begin and end of what was lost."""

    def __len__(self) -> int:
        return int(self.times_s.size)

    def take(self, stamps_s: FloatArray, samples: FloatArray) -> int:
        """Give each sample ``(3, n)`` its slot; say how many slots are missing between them."""
        if not stamps_s.size:
            return 0
        if self.origin_s is None:
            self.origin_s = float(stamps_s[0])
        times_s = stamps_s - self.origin_s
        steps = np.empty(times_s.size, dtype=np.intp)
        self._due_s, passed = count_steps(
            times_s, self._due_s, self._source_hz, _LATE, _CATCH_UP, steps
        )
        missing = passed - steps.size
        if not len(self):
            self.times_s, self.rows = times_s[:1], samples[:, :1]
            times_s, samples, steps = times_s[1:], samples[:, 1:], steps[1:]
        if missing:
            times_s, samples = self._bridge(times_s, samples, steps)
        self.times_s = np.concatenate([self.times_s, times_s])
        self.rows = np.concatenate([self.rows, samples], axis=1)
        return missing

    def let_go(self, count: int, passed_s: float) -> None:
        """Forget the first slots, and the holes that lie before a time."""
        self.times_s, self.rows = self.times_s[count:], self.rows[:, count:]
        self.holes = [hole for hole in self.holes if hole[1] > passed_s]

    def _bridge(
        self, times_s: FloatArray, samples: FloatArray, steps: NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Draw lines over the slots that are missing, from the last one that is known."""
        times_s = np.append(self.times_s[-1], times_s)
        samples = np.append(self.rows[:, -1:], samples, axis=1)
        self._note_holes(times_s, steps)
        slots = np.append(0, np.cumsum(steps))
        every = np.arange(1, slots[-1] + 1)
        bridged = np.stack([np.interp(every, slots, axis) for axis in samples])
        return np.interp(every, slots, times_s), bridged

    def _note_holes(self, times_s: FloatArray, steps: NDArray[np.intp]) -> None:
        half_s = 0.5 / self._source_hz
        for index in np.flatnonzero(steps > 1).tolist():
            self.holes.append((times_s[index] + half_s, times_s[index + 1] - half_s))


_FINEST = 2.0**40
"""Parts of a step from one slot to the next, far finer than the kernel: the share of a step is
rounded so that adding the number of its slot loses none of it. Where moments lie is then to the
last bit the same wherever slots begin."""


class Stretch(NamedTuple):
    """What even samples are made of: slots up to some way beyond the last moment."""

    until: int
    """The slot before which the moments lie."""
    times_s: FloatArray
    """When the slots were sampled."""
    rows: FloatArray
    grid_s: FloatArray
    """The moments."""
    positions: FloatArray
    """Between which slots each of them lies, were time to pass evenly between two."""
    jitters: bool
    mixed: bool
    """Whether some moments lie on slots and others do not."""

    @classmethod
    def look(
        cls, until: int, *, times_s: FloatArray, rows: FloatArray, grid_s: FloatArray, hz: float
    ) -> Self:
        """Lay moments between slots of a source of so many hertz."""
        positions = np.zeros(grid_s.size)
        if times_s.size < 2:
            return cls(until, times_s, rows, grid_s, positions, jitters=False, mixed=False)
        jitter, least, most = place(times_s, grid_s, hz, _FINEST, positions)
        mixed = least < WHOLE <= most
        return cls(until, times_s, rows, grid_s, positions, jitter > JITTER, mixed)

    def measure_period(self, hz: float) -> float:
        """Give how many periods of a source of so many hertz lie between two slots."""
        return float(self.times_s[-1] - self.times_s[0]) * hz / (self.times_s.size - 1)

    def read(self, hz: float, ratio: float) -> FloatArray:
        """Give the samples at the moments, ``ratio`` of them to a slot, as ``even_out`` does."""
        positions = self.positions
        if self.jitters and self.grid_s.size:
            slots = np.arange(self.times_s.size, dtype=np.float64)
            times = self.times_s * hz
            positions = refine(positions, self.grid_s * hz, times, slots, ratio)
        return interpolate(self.rows, positions, ratio=ratio)
