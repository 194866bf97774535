"""The continuous wavelet picture of a signal: how strong each frequency is at each moment."""

import numpy as np

from acclock.errors import ConfigError
from acclock.values import FloatArray

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
