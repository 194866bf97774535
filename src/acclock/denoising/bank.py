"""The stationary wavelet transform as multiplications in the frequency domain."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from acclock.denoising.meyer import high_pass, low_pass
from acclock.errors import SignalError
from acclock.values import FloatArray

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
