"""What lies before a window, made whole: gaps bridged, the past filled up, the ring closed."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from acclock.errors import SignalError
from acclock.values import BoolArray, FloatArray

LONGEST_BRIDGE_S = 0.5
"""A longer gap is not bridged: what came before it may be another wearer (docs/decisions/0006)."""
STRONGEST = 1e5
"""In m/s², fifty times what any accelerometer of an earphone measures."""
_SEAM = 8
"""One part in so many of a context is blended to close its ring."""


def is_sample(samples: FloatArray) -> BoolArray:
    """Say of each value whether an accelerometer can have sent it.

    >>> is_sample(np.array([9.81, np.nan, np.inf, 1e308]))
    array([ True, False, False, False])
    """
    return np.asarray(np.abs(samples) <= STRONGEST)


def mend(
    contexts: FloatArray, received: BoolArray, *, rate_hz: float
) -> tuple[FloatArray, NDArray[np.intp]]:
    """Give contexts without holes, and how many samples of each came since its last long gap.

    Short gaps are bridged by a line. What lies before a long gap is replaced by mirror images of
    what came after it, and so is the time before the stream began: that is a gap too.
    Shapes: ``(..., axes, n)`` and ``(..., n)`` give ``(..., axes, n)`` and ``(...)``.

    >>> received = np.array([False, False, False, True, False, True])
    >>> mended, fresh = mend(np.array([[9.0, 9, 9, 1, 9, 3]]), received, rate_hz=2.0)
    >>> mended, int(fresh)
    (array([[3., 2., 1., 1., 2., 3.]]), 3)
    """
    count = received.shape[-1]
    fresh = np.full(received.shape[:-1], count, dtype=np.intp)
    if received.all():
        return contexts, fresh
    if received.ndim == 1 and (begin := int(received.argmax())) and received[begin:].all():
        # a stream that has just begun, and lost nothing since: nothing is to be bridged
        return contexts[..., _mirror(count, count - begin)], fresh - begin
    mended = contexts.copy()
    for place in np.ndindex(fresh.shape):
        fresh[place] = _measure_fresh(received[place], int(LONGEST_BRIDGE_S * rate_hz))
        for signal in mended[place]:
            _bridge(signal, received[place])
            _fill_past(signal, int(fresh[place]))
    return mended, fresh


def close_ring(contexts: FloatArray) -> FloatArray:
    """Blend the oldest samples into a mirror image of the newest, so that the ends meet.

    The transform takes a context for a ring: without this the step from the last sample to the
    first, which gravity alone can make large, rings through the window that is wanted.

    >>> ring = close_ring(np.linspace(0.0, 1.0, 64))
    >>> bool(abs(ring[0] - ring[-1]) < 0.01)
    True
    """
    seam = contexts.shape[-1] // _SEAM
    closed = contexts.copy()
    closed[..., :seam] += _blend(seam) * (contexts[..., : -seam - 1 : -1] - contexts[..., :seam])
    return closed


@lru_cache(maxsize=16)
def _blend(seam: int) -> FloatArray:
    return 0.5 + 0.5 * np.cos(np.pi * (np.arange(seam) + 0.5) / seam)


def check_contexts(contexts: FloatArray, count: int) -> FloatArray:
    """Give the contexts as floats, or refuse what no transform should see."""
    checked = np.asarray(contexts, dtype=np.float64)
    if checked.ndim < 1 or checked.shape[-1] != count:
        raise SignalError(f"a context here has {count} samples; this has shape {checked.shape}")
    if checked.size and not np.abs(checked).max() <= STRONGEST:  # false for NaN, too
        raise SignalError("a context holds values that are not finite or that no sensor can send")
    return checked


def _measure_fresh(received: BoolArray, longest_gap: int) -> int:
    """Count the samples after the last gap that is too long to bridge."""
    heard = np.flatnonzero(received)
    if not len(heard):
        return 0
    if len(received) - 1 - heard[-1] > longest_gap:
        return 0
    before = np.diff(heard, prepend=-1) - 1
    before[0] = longest_gap + 1 if before[0] else 0  # nobody knows how long it was
    breaks = np.flatnonzero(before > longest_gap)
    return int(len(received) - heard[breaks[-1]]) if len(breaks) else len(received)


def _bridge(signal: FloatArray, received: BoolArray) -> None:
    heard = np.flatnonzero(received)
    if len(heard):
        signal[:] = np.interp(np.arange(len(signal)), heard, signal[heard])


def _fill_past(signal: FloatArray, fresh: int) -> None:
    signal[:] = signal[_mirror(len(signal), fresh)] if fresh else 0.0


@lru_cache(maxsize=64)  # streams that begin together ask for the same ones
def _mirror(count: int, fresh: int) -> NDArray[np.intp]:
    """Say which of the last ``fresh`` samples stands where: images of them, one after another."""
    ages = np.arange(count - 1, -1, -1) % (2 * fresh)
    return count - 1 - np.minimum(ages, 2 * fresh - 1 - ages)
