"""Slots of a live stream with the moments of the even clock that lie between them."""

from typing import NamedTuple, Self

import numpy as np

from acclock.acquisition.even import JITTER, refine
from acclock.acquisition.resampling import WHOLE, interpolate, measure_offsets
from acclock.values import FloatArray

_FINEST = 2.0**40
"""Parts of a step from one slot to the next: far finer than the kernel."""


class Stretch(NamedTuple):
    """What even samples are made of: slots up to some way beyond the last moment."""

    until: int
    """The slot before which the moments lie."""
    times: FloatArray
    """When the slots were sampled, in periods of the source."""
    rows: FloatArray
    grid_s: FloatArray
    """The moments."""
    positions: FloatArray
    """Between which slots each of them lies, were time to pass evenly between two."""
    jitters: bool

    @classmethod
    def look(
        cls, until: int, *, times_s: FloatArray, rows: FloatArray, grid_s: FloatArray, hz: float
    ) -> Self:
        """Lay moments between slots of a source of so many hertz."""
        times = times_s * hz
        jitter = np.abs(times[1:] - times[:-1] - 1.0).max(initial=0.0)
        positions = _place(grid_s, times_s)
        return cls(until, times, rows, grid_s, positions, bool(jitter > JITTER))

    @property
    def rate(self) -> float:
        """How many periods lie between two slots."""
        return float(self.times[-1] - self.times[0]) / (self.times.size - 1)

    @property
    def mixed(self) -> bool:
        """Whether some moments lie on slots and others do not."""
        offsets = measure_offsets(self.positions)
        return bool(offsets.size and offsets.min() < WHOLE <= offsets.max())

    def read(self, hz: float, ratio: float) -> FloatArray:
        """Give the samples at the moments, ``ratio`` of them to a slot, as ``even_out`` does."""
        positions = self.positions
        if self.jitters and self.grid_s.size:
            slots = np.arange(self.times.size, dtype=np.float64)
            positions = refine(positions, self.grid_s * hz, self.times, slots, ratio)
        return interpolate(self.rows, positions, ratio=ratio)


def _place(grid_s: FloatArray, times_s: FloatArray) -> FloatArray:
    """Say between which slots moments lie, to the last bit the same wherever slots begin.

    The share of a step is rounded so that adding the number of its slot loses none of it.
    """
    if times_s.size < 2:
        return np.zeros(grid_s.size)
    slots = np.searchsorted(times_s, grid_s, side="right") - 1
    slots = np.minimum(np.maximum(slots, 0), times_s.size - 2)
    before_s = times_s[slots]
    shares = (grid_s - before_s) / (times_s[slots + 1] - before_s)
    return slots + np.rint(np.minimum(np.maximum(shares, 0.0), 1.0) * _FINEST) / _FINEST
