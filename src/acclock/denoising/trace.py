"""A whole stretch of signal after each step of denoising, to look at."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from acclock.denoising.peaks import IndexArray
from acclock.denoising.periodicity import Periodicity
from acclock.denoising.stages import Stages
from acclock.values import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """Windows laid end to end: every array is ``(axes, n)``, in m/s²."""

    rate_hz: float
    window_s: float
    raw: FloatArray
    wavelet: FloatArray
    """The kept wavelet levels."""
    shrunk: FloatArray
    """The same, with what is small in each level faded away: the end of stage 1."""
    recovered: FloatArray
    """The end of stage 2: windows with an event recovered, the others as they were."""
    periodicity: tuple[tuple[Periodicity, ...], ...]
    """What the event detector saw: one row per window, one entry per axis."""

    def peaks(self, axis: int) -> IndexArray:
        """Give where the event detector saw the peaks of one axis."""
        length = round(self.window_s * self.rate_hz)
        found = [seen[axis].peaks + n * length for n, seen in enumerate(self.periodicity)]
        return np.concatenate([np.empty(0, np.intp), *found])


def lay_end_to_end(stages: Iterable[Stages]) -> Trace:
    """Give the trace of windows that follow each other without overlap.

    Only the windows are kept, so an iterator of any length may come.
    """
    pieces = [(s.config, s.raw, s.wavelet, s.shrunk, s.recovered, s.periodicity) for s in stages]
    configs, raw, wavelet, shrunk, recovered, periodicity = zip(*pieces, strict=True)
    return Trace(
        rate_hz=configs[0].rate_hz,
        window_s=configs[0].window_s,
        raw=np.concatenate(raw, axis=-1),
        wavelet=np.concatenate(wavelet, axis=-1),
        shrunk=np.concatenate(shrunk, axis=-1),
        recovered=np.concatenate(recovered, axis=-1),
        periodicity=periodicity,
    )
