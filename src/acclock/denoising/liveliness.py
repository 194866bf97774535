"""What windows show of life and of the sensor, many wearers in one go: what quality is made of."""

from math import log10, sqrt

import numpy as np

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.local_power import measure_local_power
from acclock.denoising.periodicity import assess_periodicity
from acclock.denoising.shrinkage import find_median_magnitudes
from acclock.values import FloatArray

SECOND_DIFFERENCE = 0.6745 * sqrt(6.0)
"""Median magnitude of the second differences of white noise of variance one."""
LIMIT = 15.0
"""In m/s²: no sensor saturates below, the smallest range being 2 g."""
QUIETEST = 1e-6
"""RMS in m/s²: a thousandth of the quietest sensor's noise."""
THIN = 8
"""The usual is a median of so many times fewer: neighbors are averages of the same samples."""


def measure_saturation(windows: FloatArray) -> list[float]:
    """Give the share of samples that stand still, three in a row, where a sensor may end."""
    if max(windows.max(), -windows.min()) <= LIMIT:  # nearly always, and a tenth of the work
        return [0.0] * len(windows)
    still = (np.diff(windows) == 0) & (np.abs(windows[..., 1:]) > LIMIT)
    shares: list[float] = (still[..., 1:] & still[..., :-1]).mean(axis=(-2, -1)).tolist()
    return shares


def measure_liveliness(beats: FloatArray, config: DenoiseConfig) -> tuple[FloatArray, FloatArray]:
    """Give the RMS over 0.8 s of each axis: the usual of the context, the highest of the window."""
    local = measure_local_power(beats, round(config.local_s * config.rate_hz / 2))
    usual = find_median_magnitudes(local[..., ::THIN])
    return np.sqrt(usual), np.sqrt(local[..., -config.window_length :].max(axis=-1))


def measure_regularity(windows: FloatArray, config: DenoiseConfig) -> list[float]:
    """Give how evenly the most even axis of each wearer beats."""
    return [
        max(0.0, 1.0 - min(assess_periodicity(axis, config).interval_variation for axis in window))
        for window in np.ascontiguousarray(windows)
    ]


def compare_with_noise(heard: FloatArray, windows: FloatArray) -> list[float]:
    """Give the RMS of the windows over that of the sensor's noise, in dB.

    Second differences hold little but noise, and their median does not see what else they hold.
    """
    noise = find_median_magnitudes(np.diff(heard, n=2)) / SECOND_DIFFERENCE
    rises = (windows.std(axis=-1) / np.maximum(noise, QUIETEST)).max(axis=-1)
    return [20.0 * log10(max(rise, QUIETEST)) for rise in rises.tolist()]
