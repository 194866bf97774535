"""Slots of a live stream with the moments of the even clock that lie between them."""

from typing import NamedTuple, Self

import numpy as np

from acclock.acquisition.even import JITTER, refine
from acclock.acquisition.kernels import place
from acclock.acquisition.resampling import WHOLE, interpolate
from acclock.values import FloatArray

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
