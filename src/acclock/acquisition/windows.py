"""Windows of one length, cut from a recording or from chunks as they arrive."""

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from acclock.errors import ConfigError, SignalError
from acclock.values import FloatArray, Recording

Scalar = TypeVar("Scalar", bound=np.generic)


def cut(recording: Recording, *, window_s: float, step_s: float) -> list[FloatArray]:
    """Give the windows ``(3, n)`` that fit into a recording, one every ``step_s``.

    >>> recording = Recording(samples=np.zeros((3, 1000)), rate_hz=100.0)
    >>> [window.shape for window in cut(recording, window_s=4.0, step_s=3.0)]
    [(3, 400), (3, 400), (3, 400)]
    """
    ring: Ring[np.float64] = Ring(
        length=round(window_s * recording.rate_hz), step=round(step_s * recording.rate_hz)
    )
    return ring.push(recording.samples)


class Ring(Generic[Scalar]):
    """Chunks of any size in, windows of one size out; it holds no more than one window.

    Works on the last axis. ``push`` is eager: it has done its work when it returns.

    >>> ring = Ring(length=3, step=2)
    >>> ring.push(np.array([1, 2])), ring.push(np.array([3, 4, 5, 6]))
    ([], [array([1, 2, 3]), array([3, 4, 5])])
    """

    def __init__(self, *, length: int, step: int) -> None:
        if length < 1 or step < 1:
            raise ConfigError(f"a window and its step have samples, not {length} and {step}")
        self._length = length
        self._step = step
        self._held: NDArray[Scalar] | None = None
        self._skip = 0
        """How many coming samples lie between two windows, when the step is the longer."""

    def push(self, chunk: NDArray[Scalar]) -> list[NDArray[Scalar]]:
        """Take a chunk and give the windows that it completes, oldest first."""
        if self._held is not None and chunk.shape[:-1] != self._held.shape[:-1]:
            raise SignalError(
                f"a chunk has the axes of the first, {self._held.shape[:-1]}; "
                f"this has {chunk.shape[:-1]}"
            )
        skipped = min(self._skip, chunk.shape[-1])
        self._skip -= skipped
        fresh = chunk[..., skipped:]
        held = fresh if self._held is None else np.concatenate([self._held, fresh], axis=-1)
        starts = range(0, held.shape[-1] - self._length + 1, self._step)
        windows = [held[..., start : start + self._length].copy() for start in starts]
        done = len(starts) * self._step
        self._skip += max(0, done - held.shape[-1])
        self._held = held[..., done:].copy()
        return windows
