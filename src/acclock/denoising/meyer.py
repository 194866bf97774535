"""The discrete Meyer wavelet: a table of taps, and how its filters answer to a frequency."""

import numpy as np

from acclock.values import FloatArray

HALF_LOW_PASS = (
    0.7445855923188063,
    0.44459300275757724,
    -0.035087555656258346,
    -0.13284520043622938,
    0.030655091960824263,
    0.0637390243228016,
    -0.024348745906078023,
    -0.03213079399021176,
    0.017423434103729693,
    0.015270015130934803,
    -0.011061496392513451,
    -0.006387718318497156,
    0.006045814097323304,
    0.002202534100911002,
    -0.002704672124643725,
    -0.0006011502343516092,
    6.554305930575149e-05,
    -1.6312699734552807e-05,
    3.20544191334478e-06,
    7.367572885903746e-07,
    -1.489549216497156e-06,
    1.1307947017916706e-06,
    -5.506340565252278e-07,
    1.1783004497663934e-07,
    8.200680650386481e-08,
    -1.0866516536735883e-07,
    6.066975741351135e-08,
    -1.0798819539621958e-08,
    -1.111944952595278e-08,
    8.519459636796214e-09,
    -1.009999956941423e-12,
)
"""The low-pass from its middle tap outwards. It is symmetric, so 62 taps are these and a zero."""


def low_pass(frequencies: FloatArray) -> FloatArray:
    """Give the gain of the low-pass, without its delay, at frequencies in cycles per sample.

    >>> low_pass(np.array([0.0, 0.5])).round(2) + 0.0
    array([1.41, 0.  ])
    """
    middle, *sides = HALF_LOW_PASS
    angles = 2 * np.pi * np.multiply.outer(frequencies, np.arange(1, len(HALF_LOW_PASS)))
    return np.asarray(middle + 2 * np.cos(angles) @ np.array(sides))


def high_pass(frequencies: FloatArray) -> FloatArray:
    """Give the gain of the mirrored filter that keeps what the low-pass takes away."""
    return low_pass(frequencies + 0.5)
