"""What windows show of life and of the sensor, many wearers in one go: what quality is made of."""

from math import log10, sqrt

import numpy as np

from acclock.denoising import kernels
from acclock.denoising.config import DenoiseConfig
from acclock.denoising.periodicity import FASTEST_BPM
from acclock.values import FloatArray

SECOND_DIFFERENCE = 0.6745 * sqrt(6.0)
"""Median magnitude of the second differences of white noise of variance one."""
LIMIT = 15.0
"""In m/s²: no sensor saturates below, the smallest range being 2 g."""
QUIETEST = 1e-6
"""RMS in m/s²: a thousandth of the quietest sensor's noise."""
THIN = 8
"""The usual is a median of so many times fewer (in the kernel): neighbors are averages of the same
samples."""


def measure_saturation(windows: FloatArray) -> list[float]:
    """Give the share of samples that stand still, three in a row, where a sensor may end."""
    if max(windows.max(), -windows.min()) <= LIMIT:  # nearly always, and a tenth of the work
        return [0.0] * len(windows)
    still = (np.diff(windows) == 0) & (np.abs(windows[..., 1:]) > LIMIT)
    shares: list[float] = (still[..., 1:] & still[..., :-1]).mean(axis=(-2, -1)).tolist()
    return shares


def measure_liveliness(beats: FloatArray, config: DenoiseConfig) -> tuple[FloatArray, FloatArray]:
    """Give the RMS over 0.8 s of each axis: the usual of the context, the highest of the window."""
    usual, highest = np.empty(beats.shape[:-1]), np.empty(beats.shape[:-1])
    half = round(config.local_s * config.rate_hz / 2)
    rows = np.ascontiguousarray(beats)
    kernels.liveliness(rows, rows.shape[-1], half, config.window_length, usual, highest)
    return np.sqrt(usual), np.sqrt(highest)


def measure_regularity(windows: FloatArray, config: DenoiseConfig) -> list[float]:
    """Give how evenly the most even axis of each wearer beats, by ``assess_periodicity``."""
    variation = np.empty(windows.shape[:-1])
    slowest, fastest = (
        config.rate_hz * 60.0 / bpm
        for bpm in (config.fastest_bpm, max(config.fastest_bpm, FASTEST_BPM))
    )
    kernels.evenness(
        np.ascontiguousarray(windows),
        windows.shape[-1],
        int(slowest),
        int(fastest),
        slowest,
        config.least_prominence,
        config.most_interval_variation,
        config.most_amplitude_variation,
        variation,
    )
    return [max(0.0, 1.0 - least) for least in variation.min(axis=-1).tolist()]


def compare_with_noise(heard: FloatArray, windows: FloatArray) -> list[float]:
    """Give the RMS of the windows over that of the sensor's noise, in dB.

    Second differences hold little but noise, and their median does not see what else they hold.
    """
    noise, rows = np.empty(heard.shape[:-1]), np.ascontiguousarray(heard)
    kernels.roughness(rows, rows.shape[-1], noise)
    loudness = np.maximum(noise / SECOND_DIFFERENCE, QUIETEST)
    rises = (windows.std(axis=-1) / loudness).max(axis=-1)
    return [20.0 * log10(max(rise, QUIETEST)) for rise in rises.tolist()]
