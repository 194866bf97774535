"""Stage 1: device noise, breathing and sway, removed by shrinking wavelet coefficients."""

from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

import numpy as np

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.kernels import fade, median_magnitudes
from acclock.denoising.wavelets import Bank, build_bank
from acclock.values import FloatArray

_MEDIAN_OF_UNIT_NORMAL = 0.6745


def find_thresholds(coefficients: FloatArray) -> FloatArray:
    r"""Give what the noise of each row reaches: ``(..., n)`` becomes ``(...)``.

    .. math:: T_j = \sigma_j \sqrt{2 \log n_j}, \quad \sigma_j = \mathrm{median}(|w_j|) / 0.6745

    Paper: Sec. 4.1.2, the two formulas without a number.

    >>> find_thresholds(np.array([[1.0, -2.0, 3.0, 100.0], [0.0, 0.0, 0.0, 9.0]])).round(2)
    array([6.17, 0.  ])
    """
    scale = sqrt(2 * log(coefficients.shape[-1])) / _MEDIAN_OF_UNIT_NORMAL
    return find_median_magnitudes(coefficients) * scale


def find_median_magnitudes(rows: FloatArray) -> FloatArray:
    """Give the median of the absolute values of each row: ``(..., n)`` becomes ``(...)``.

    >>> find_median_magnitudes(np.array([[1.0, -2.0, 9.0], [0.0, 0.0, 1.0]]))
    array([2., 0.])
    """
    medians = np.empty(rows.shape[:-1])
    median_magnitudes(np.ascontiguousarray(rows), rows.shape[-1], medians)
    return medians


def shrink(coefficients: FloatArray, *, threshold: float | FloatArray, power: float) -> FloatArray:
    r"""Fade small wavelet coefficients towards zero and leave large ones alone.

    .. math:: \hat{w}_j = w_j \left(1 - e^{-(|w_j| / T_j)^p}\right)

    Paper: Sec. 4.1.2, Eq. (1), where ``threshold`` is :math:`T_j`, one for all or one for each
    row, and ``power`` is :math:`p`.
    The result has the shape of ``coefficients``; a zero threshold changes nothing.

    >>> shrink(np.array([0.0, -1.0, 10.0]), threshold=1.0, power=2.0).round(3)
    array([ 0.   , -0.632, 10.   ])
    """
    rows = np.ascontiguousarray(coefficients)
    thresholds = np.ascontiguousarray(np.broadcast_to(threshold, rows.shape[:-1]), np.float64)
    shrunk = np.empty_like(rows)
    fade(rows, thresholds, rows.shape[-1], power, shrunk)
    return shrunk


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """The kept wavelet levels of some contexts, with what noise reaches in each."""

    coefficients: FloatArray
    """``(rows, levels, context)``."""
    thresholds: FloatArray
    """``(rows, levels)``."""


def split(contexts: FloatArray, config: DenoiseConfig) -> Bands:
    """Take contexts apart into the levels that are kept.

    Paper: Sec. 4.1.1. Shapes: ``(rows, context)``; the ends of a context should meet.
    """
    coefficients = bank_of(config).decompose(contexts)
    return Bands(coefficients, find_thresholds(coefficients))


def join(bands: Bands, config: DenoiseConfig) -> FloatArray:
    """Put the levels together again, with what is small in each faded away: ``(rows, context)``.

    Paper: Sec. 4.1.2.
    """
    power = config.shrink_power
    return bank_of(config).recompose(
        shrink(bands.coefficients, threshold=bands.thresholds, power=power)
    )


@lru_cache(maxsize=16)
def bank_of(config: DenoiseConfig) -> Bank:
    """Give the filters of the levels that a config keeps."""
    return build_bank(config.context_length, config.levels, config.kept_levels)
