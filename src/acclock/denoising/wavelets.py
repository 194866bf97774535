"""Wavelets: the discrete Meyer filters, their stationary transform, and the continuous picture."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from acclock.errors import ConfigError, SignalError
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


APPROXIMATION = 0
"""The name of what lies below the deepest level, beside levels 1, 2, 3 ..."""


@dataclass(frozen=True, slots=True, eq=False)
class Bank:
    """Some bands of the transform, for signals of one length that close into a ring.

    Coefficients lie over the samples that they describe. Those of ``pywt.swt`` and ``pywt.iswt``
    are the same numbers, moved ahead by ``leads``.
    """

    count: int
    forth: FloatArray
    """What each band takes from the spectrum of the signal, one row per band."""
    back: FloatArray
    """What each band gives back to it."""
    leads: tuple[int, ...]
    """By how many samples PyWavelets is ahead in each band."""

    def decompose(self, signals: FloatArray) -> FloatArray:
        """Give one row of coefficients per band: ``(..., n)`` becomes ``(..., bands, n)``."""
        return np.fft.irfft(np.fft.rfft(signals)[..., np.newaxis, :] * self.forth, self.count)

    def recompose(self, coefficients: FloatArray) -> FloatArray:
        """Give the signal of the coefficients; bands that the bank does not have count as zero."""
        spectra = np.fft.rfft(coefficients)
        spectra *= self.back
        return np.fft.irfft(spectra.sum(axis=-2), self.count)


@lru_cache(maxsize=16)
def build_bank(count: int, levels: int, kept: tuple[int, ...] | None = None) -> Bank:
    """Give the bank of ``kept`` bands, all levels and then the approximation when not given.

    Equal to PyWavelets with the discrete Meyer wavelet (docs/decisions/0007).

    Paper: Sec. 4.1.1.

    >>> bank = build_bank(64, levels=2)
    >>> bank.decompose(np.sin(np.arange(64.0))).shape
    (3, 64)
    """
    if count < 1 or count % 2**levels:
        raise SignalError(
            f"{levels} wavelet levels need a multiple of {2**levels} samples, not {count}"
        )
    frequencies = np.arange(count // 2 + 1) / count
    bands = {APPROXIMATION: np.ones(len(frequencies))}
    for level in range(1, levels + 1):
        stretched = frequencies * 2 ** (level - 1)
        bands[level] = -high_pass(stretched) * bands[APPROXIMATION]
        bands[APPROXIMATION] = low_pass(stretched) * bands[APPROXIMATION]
    kept = kept or (*range(1, levels + 1), APPROXIMATION)
    forth = np.stack([bands[level] for level in kept])
    # Nothing is thinned out on the way forth, so each level holds everything twice as often as
    # the one before it.
    halvings = np.array([[level or levels] for level in kept])
    # The high-pass is one tap off the middle of its table, and PyWavelets leaves it there.
    leads = tuple(2 ** (level - 1) if level else 0 for level in kept)
    return Bank(count, forth, forth / 2.0**halvings, leads)


_CYCLES = 6.0
"""Center of the Morlet wavelet in radians: about one oscillation per standard deviation."""


def scalogram(signal: FloatArray, *, rate_hz: float, frequencies_hz: FloatArray) -> FloatArray:
    r"""Magnitude of the continuous wavelet transform, one row per frequency.

    .. math:: |W(s, t)| = |\mathcal{F}^{-1}[\hat x(\omega)\,\hat\psi(s\omega)]|

    with the complex Morlet wavelet, scaled so that a sine of amplitude one gives one.

    Paper: Sec. 2.2, the pictures of users and sessions.

    >>> tone = np.sin(2 * np.pi * 10.0 * np.arange(1000) / 100.0)
    >>> rows = scalogram(tone, rate_hz=100.0, frequencies_hz=np.array([5.0, 10.0]))
    >>> rows[:, 500].round(2)
    array([0., 1.])
    """
    if np.any(frequencies_hz <= 0) or np.any(frequencies_hz > rate_hz / 2):
        raise ConfigError(f"frequencies must lie above 0 and up to {rate_hz / 2:g} Hz")
    spectrum = np.fft.fft(signal - signal.mean())
    omega = 2 * np.pi * np.fft.fftfreq(signal.size, 1.0 / rate_hz)
    scales = _CYCLES / (2 * np.pi * frequencies_hz)
    response = 2.0 * np.exp(-0.5 * (scales[:, None] * omega - _CYCLES) ** 2) * (omega > 0)
    return np.abs(np.fft.ifft(spectrum * response))
