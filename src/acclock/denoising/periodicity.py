"""Whether a window beats evenly, by its peaks, or something sporadic happened in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from acclock.denoising import kernels
from acclock.denoising.config import DenoiseConfig
from acclock.values import FloatArray

IndexArray = NDArray[np.intp]


def find_peaks(signal: FloatArray, *, distance: int, prominence: float) -> IndexArray:
    """Give where one signal peaks, as indices in rising order.

    Of peaks closer than ``distance`` the higher stays; then those go that rise less than
    ``prominence`` above the higher of the two valleys beside them. A flat top counts as its
    middle. As in SciPy's function of the same name.

    >>> wave = np.array([0.0, 1.0, 0.2, 0.5, 0.0, 2.0, 0.0])
    >>> find_peaks(wave, distance=1, prominence=0.4)
    array([1, 5])
    """
    places = np.empty(len(signal), dtype=np.intp)
    count = kernels.find_peaks(np.ascontiguousarray(signal), distance, prominence, places)
    return places[:count].copy()


FASTEST_BPM = 200.0
"""Where the second look ends (docs/decisions/0008)."""
_FEWEST_PEAKS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Periodicity:
    """Whether a window is periodic, with the numbers that say so."""

    peaks: IndexArray
    interval_variation: float
    """Coefficient of variation of the intervals; infinite with fewer than three peaks."""
    amplitude_variation: float
    """Coefficient of variation of the peak heights, in the normalized window."""
    mean_interval_s: float
    periodic: bool
    lively: bool = False
    """Whether it was taken for a rhythm of the body, and not of the heart, for its strength."""


def assess_periodicity(window: FloatArray, config: DenoiseConfig) -> Periodicity:
    """Judge one denoised window by how even its peaks are in time and height.

    Paper: Sec. 4.2.1. A heart faster than the paper's 120 bpm cannot pass, since every other of
    its peaks is too close to the last. Ours: what does not pass is looked at again with peaks
    allowed as close as 200 bpm, and passes if it then beats evenly *and* faster than 120 bpm.

    >>> window = np.sin(2 * np.pi * 1.5 * np.arange(400) / 100.0)
    >>> assess_periodicity(window, DenoiseConfig()).periodic
    True
    """
    centered = window - window.sum() / len(window)
    spread = sqrt(float(centered @ centered) / len(centered))
    if spread == 0.0:
        return _NOTHING
    normalized = centered / spread
    usual = _judge(normalized, config, config.fastest_bpm)
    if usual.periodic or config.fastest_bpm >= FASTEST_BPM:
        return usual
    fast = _judge(normalized, config, FASTEST_BPM)
    if fast.periodic and fast.mean_interval_s < 60.0 / config.fastest_bpm:
        return fast
    return usual


_NOTHING = Periodicity(np.empty(0, np.intp), inf, inf, 0.0, periodic=False)


def _judge(normalized: FloatArray, config: DenoiseConfig, fastest_bpm: float) -> Periodicity:
    distance = int(config.rate_hz * 60.0 / fastest_bpm)
    peaks = find_peaks(normalized, distance=distance, prominence=config.least_prominence)
    if len(peaks) < _FEWEST_PEAKS:
        return Periodicity(peaks, inf, inf, 0.0, periodic=False)
    places = peaks.tolist()
    intervals = [after - before for before, after in pairwise(places)]
    in_time, in_height = _vary(intervals), _vary(normalized[peaks].tolist())
    return Periodicity(
        peaks,
        in_time,
        in_height,
        (places[-1] - places[0]) / len(intervals) / config.rate_hz,
        periodic=in_time < config.most_interval_variation
        and in_height < config.most_amplitude_variation,
    )


def _vary(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sqrt(sum((v - mean) ** 2 for v in values) / len(values)) / mean if mean > 0 else inf
