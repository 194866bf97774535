"""A plain zero-phase band-pass: the simplest way from acceleration to heartbeat."""

from functools import lru_cache

import numpy as np

from acclock.denoising import kernels, uncompiled
from acclock.errors import ConfigError
from acclock.values import FloatArray

_ORDER = 4
EDGE_S = 2.0
"""How much of each end is mirrored, so that the ends do not ring into each other."""
_LARGEST_PRIME = 31
_LONGEST = 2**16
"""Of the lengths that the compiled kernel takes, and that a circle is remembered for."""


def bandpass(
    signals: FloatArray,
    *,
    rate_hz: float,
    low_hz: float = 0.8,
    high_hz: float = 25.0,
    last: int | None = None,
) -> FloatArray:
    """Keep what lies between two frequencies, without moving it in time.

    Works on the last axis and keeps the shape, or gives only so many of the ``last`` samples. The
    gain is that of a Butterworth filter run forwards and backwards; an upper edge at or above half
    the rate leaves the top open. Rows are filtered together, and each as if alone.

    >>> tone = np.sin(2 * np.pi * 5.0 * np.arange(1000) / 100.0)
    >>> kept = bandpass(9.8 + tone, rate_hz=100.0)
    >>> bool(np.abs(kept - tone)[100:-100].max() < 0.05)
    True
    """
    if not 0 < low_hz < high_hz:
        raise ConfigError(f"a band goes from low to high; this goes from {low_hz} to {high_hz} Hz")
    count = signals.shape[-1]
    keep = count if last is None else last
    edge = min(int(EDGE_S * rate_hz), count - 1)
    if edge < 1:
        return np.zeros((*signals.shape[:-1], keep))
    passed = np.empty((*signals.shape[:-1], keep))
    length = count + 2 * edge
    kernel = kernels.pass_band if _is_smooth(length) else uncompiled.pass_band
    rows = np.ascontiguousarray(signals, dtype=np.float64)
    gain = _gain(length, rate_hz, low_hz, high_hz)
    kernel(rows, count, edge, gain, _list_turns(length), keep, passed)
    return passed


@lru_cache(maxsize=64)
def _is_smooth(length: int) -> bool:
    """Say whether the compiled transform takes rows of a length."""
    if length % 2 or length > _LONGEST:
        return False
    for factor in range(2, _LARGEST_PRIME + 1):
        while length % factor == 0:
            length //= factor
    return length == 1


@lru_cache(maxsize=64)
def _list_turns(length: int) -> FloatArray:
    """Give a circle in so many steps, as real and imaginary parts by turns."""
    if not _is_smooth(length):
        return np.empty(0)  # NumPy has its own
    circle: FloatArray = np.exp(-2j * np.pi * np.arange(length) / length).view(np.float64)
    return circle


@lru_cache(maxsize=32)  # every window of a stream asks for the same one
def _gain(count: int, rate_hz: float, low_hz: float, high_hz: float) -> FloatArray:
    frequencies = np.fft.rfftfreq(count, 1.0 / rate_hz)
    with np.errstate(divide="ignore"):
        gain = 1.0 / (1.0 + (low_hz / frequencies) ** (2 * _ORDER))
    if high_hz < rate_hz / 2:
        gain /= 1.0 + (frequencies / high_hz) ** (2 * _ORDER)
    return np.asarray(gain, dtype=np.float64)
