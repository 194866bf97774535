"""Signals at other moments than those at which they were sampled."""

from functools import lru_cache
from typing import Any

import numpy as np

from acclock.values import FloatArray

try:
    from acclock.acquisition import _interpolation as kernel
except ImportError:  # it was installed where no C compiler is
    from acclock.acquisition import uncompiled as kernel  # type: ignore[no-redef]  # the same in NumPy

_ZERO_CROSSINGS = 24
_WINDOW_SHAPE = 6.76
"""Kaiser's beta for 70 dB; the transition is then 9 % of the lower rate wide."""
_KEPT_SHARE = 0.91
"""Where the middle of the transition lies when the rate drops, as a share of the new Nyquist
frequency: nothing above Nyquist folds back, and everything below 82 % of it is kept."""
WHOLE = 1e-6
"""Positions as near as this to whole ones are whole."""
_PHASES = 512
"""Steps of the tabulated kernel per zero crossing; between them it is a straight line."""


def interpolate(rows: FloatArray, positions: FloatArray, *, ratio: float) -> FloatArray:
    """Give the signals in ``rows`` at fractional ``positions`` along their last axis.

    ``ratio`` is the new rate over the old one; when it drops, what the new rate cannot carry is
    removed first (a windowed sinc, so nothing moves in time). At whole positions and an unchanged
    rate the samples themselves come back. *Ours*: docs/decisions/0002.

    >>> interpolate(np.array([[0.0, 1.0, 2.0, 3.0]]), np.array([1.0, 1.5]), ratio=1.0).round(3)
    array([[1. , 1.5]])
    """
    whole = np.rint(positions)
    if ratio == 1.0 and np.abs(positions - whole).max(initial=0.0) < WHOLE:
        return rows.take(whole.astype(np.intp), axis=1)
    cutoff = _cut_off(ratio)
    reach = find_reach(ratio)
    result = np.empty((rows.shape[0], positions.size))
    kernel.interpolate(
        _continue_beyond_ends(rows, reach),
        rows.shape[0],
        np.ascontiguousarray(positions),
        _weigh(cutoff, reach),
        2 * reach,
        result,
    )
    return result


def find_reach(ratio: float) -> int:
    """Give how many samples to either side of a position play a part in what it gets."""
    return int(np.ceil(_ZERO_CROSSINGS / _cut_off(ratio)))


def _cut_off(ratio: float) -> float:
    # rounded down, so that clocks that differ by a hair share one table
    return int(1000 * _KEPT_SHARE * ratio) / 1000 if ratio < 1.0 else 1.0


@lru_cache(maxsize=16)
def _weigh(cutoff: float, reach: int) -> FloatArray:
    """Tabulate the kernel: for each phase between two samples the weight of each tap."""
    count = int(np.ceil(_PHASES * cutoff))
    phases = np.arange(count + 1) / count
    distances = np.arange(1 - reach, reach + 1) - phases[:, np.newaxis]
    inside = np.sqrt(np.maximum(0.0, 1.0 - (distances / reach) ** 2))
    window = np.i0(_WINDOW_SHAPE * inside) / np.i0(_WINDOW_SHAPE)
    weights = np.sinc(cutoff * distances) * window
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _continue_beyond_ends(rows: FloatArray, reach: int) -> FloatArray:
    """Turn the ends around themselves, as often as it takes."""
    count = rows.shape[1]
    if not reach < count:
        mode: Any = {"mode": "edge"} if count < 2 else {"mode": "reflect", "reflect_type": "odd"}
        return np.ascontiguousarray(np.pad(rows, ((0, 0), (reach, reach)), **mode))
    continued = np.empty((rows.shape[0], count + 2 * reach))  # NumPy takes five times as long
    continued[:, reach : reach + count] = rows
    np.subtract(2 * rows[:, :1], rows[:, reach:0:-1], out=continued[:, :reach])
    np.subtract(2 * rows[:, -1:], rows[:, -2 : -reach - 2 : -1], out=continued[:, reach + count :])
    return continued
