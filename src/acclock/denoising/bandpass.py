"""A plain zero-phase band-pass: the simplest way from acceleration to heartbeat."""

from functools import lru_cache

import numpy as np

from acclock.errors import ConfigError
from acclock.values import FloatArray

_ORDER = 4
EDGE_S = 2.0
"""How much of each end is mirrored, so that the ends do not ring into each other."""


def bandpass(
    signals: FloatArray, *, rate_hz: float, low_hz: float = 0.8, high_hz: float = 25.0
) -> FloatArray:
    """Keep what lies between two frequencies, without moving it in time.

    Works on the last axis and keeps the shape. The gain is that of a Butterworth filter run
    forwards and backwards; an upper edge at or above half the rate leaves the top open.

    >>> tone = np.sin(2 * np.pi * 5.0 * np.arange(1000) / 100.0)
    >>> kept = bandpass(9.8 + tone, rate_hz=100.0)
    >>> bool(np.abs(kept - tone)[100:-100].max() < 0.05)
    True
    """
    if not 0 < low_hz < high_hz:
        raise ConfigError(f"a band goes from low to high; this goes from {low_hz} to {high_hz} Hz")
    count = signals.shape[-1]
    edge = min(int(EDGE_S * rate_hz), count - 1)
    if edge < 1:
        return np.zeros_like(signals)
    padded = _mirror(signals - signals.mean(axis=-1, keepdims=True), edge)
    spectrum = np.fft.rfft(padded)
    spectrum *= _gain(padded.shape[-1], rate_hz, low_hz, high_hz)
    return np.fft.irfft(spectrum, padded.shape[-1])[..., edge : edge + count]


def _mirror(signals: FloatArray, edge: int) -> FloatArray:
    """Turn the ends around themselves, as np.pad does with odd reflection in thrice the time."""
    count = signals.shape[-1]
    padded = np.empty((*signals.shape[:-1], count + 2 * edge))
    padded[..., edge : edge + count] = signals
    np.subtract(2 * signals[..., :1], signals[..., edge:0:-1], out=padded[..., :edge])
    before = signals[..., -2 : -edge - 2 : -1]
    np.subtract(2 * signals[..., -1:], before, out=padded[..., edge + count :])
    return padded


@lru_cache(maxsize=32)  # every window of a stream asks for the same one
def _gain(count: int, rate_hz: float, low_hz: float, high_hz: float) -> FloatArray:
    frequencies = np.fft.rfftfreq(count, 1.0 / rate_hz)
    with np.errstate(divide="ignore"):
        gain = 1.0 / (1.0 + (low_hz / frequencies) ** (2 * _ORDER))
    if high_hz < rate_hz / 2:
        gain /= 1.0 + (frequencies / high_hz) ** (2 * _ORDER)
    return np.asarray(gain, dtype=np.float64)
