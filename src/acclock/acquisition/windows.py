"""Windows of one length, cut from a recording or from chunks as they arrive."""

from functools import lru_cache
from typing import Generic, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from acclock.errors import ConfigError, SignalError
from acclock.values import BoolArray, FloatArray, Recording

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
    """Chunks of any size in, windows of one size out; it holds no more than two windows.

    Works on the last axis. ``push`` is eager: it has done its work when it returns. Windows that
    overlap share their samples, so nobody may write into them; they stay as they are for as long
    as somebody holds them.

    >>> ring = Ring(length=3, step=2)
    >>> ring.push(np.array([1, 2])), ring.push(np.array([3, 4, 5, 6]))
    ([], [array([1, 2, 3]), array([3, 4, 5])])
    """

    def __init__(self, *, length: int, step: int) -> None:
        if length < 1 or step < 1:
            raise ConfigError(f"a window and its step have samples, not {length} and {step}")
        self._length = length
        self._step = step
        self._room: NDArray[Scalar] | None = None
        """For two windows, so that what is held is moved only now and then."""
        self._begin = self._end = 0
        self._skip = 0
        """How many coming samples lie between two windows, when the step is the longer."""

    def push(self, chunk: NDArray[Scalar]) -> list[NDArray[Scalar]]:
        """Take a chunk and give the windows that it completes, oldest first."""
        skipped = min(self._skip, chunk.shape[-1])
        self._skip -= skipped
        held = self._hold(chunk[..., skipped:])
        starts = range(0, held.shape[-1] - self._length + 1, self._step)
        windows = [held[..., start : start + self._length] for start in starts]
        done = len(starts) * self._step
        self._skip += max(0, done - held.shape[-1])
        self._begin = min(self._begin + done, self._end)
        if held.shape[-1] > 2 * self._length:  # let go of a chunk as long as a recording
            self._make_room(chunk[..., :0])
        return windows

    def _hold(self, fresh: NDArray[Scalar]) -> NDArray[Scalar]:
        """Put samples behind those that are held, and give all of them."""
        room, count = self._room, fresh.shape[-1]
        if room is not None and fresh.shape[:-1] != room.shape[:-1]:
            _refuse_axes(room.shape[:-1], fresh.shape[:-1])
        if room is None or self._end + count > room.shape[-1]:
            room = self._make_room(fresh)
        room[..., self._end : self._end + count] = fresh  # behind all that was ever given away
        self._end += count
        held = room[..., self._begin : self._end]
        held.flags.writeable = False
        return held

    def _make_room(self, fresh: NDArray[Scalar]) -> NDArray[Scalar]:
        held = fresh[..., :0] if self._room is None else self._room[..., self._begin : self._end]
        size = max(2 * self._length, held.shape[-1] + fresh.shape[-1])
        room = np.empty((*fresh.shape[:-1], size), dtype=fresh.dtype)
        room[..., : held.shape[-1]] = held
        self._room, self._begin, self._end = room, 0, held.shape[-1]
        return room


class MaskedRing:
    """A ring of samples and of which of them arrived, that both are pushed into together.

    Whether all of a window arrived is known without looking at it: then its mask is the same
    array each time.

    >>> masked = MaskedRing(length=3, step=2)
    >>> [(window, arrived)] = masked.push(np.array([[1.0, 2.0, 3.0, 4.0]]), np.ones(4, dtype=bool))
    >>> window, arrived
    (array([[1., 2., 3.]]), array([ True,  True,  True]))
    """

    def __init__(self, *, length: int, step: int) -> None:
        self._ring: Ring[np.float64] = Ring(length=length, step=step)
        self._length, self._step = length, step
        self._axes: tuple[int, ...] | None = None
        self._taken = self._begin = self._whole_from = 0
        """Samples that were pushed, where the next window begins, and behind the last loss."""

    def push(self, samples: FloatArray, received: BoolArray) -> list[tuple[FloatArray, BoolArray]]:
        """Take samples ``(..., axes, n)`` and a mask ``(..., n)``; give windows, oldest first."""
        *wearers, axes, count = samples.shape
        if received.shape != (*wearers, count):
            raise SignalError(f"a mask has shape {(*wearers, count)}, not {received.shape}")
        if self._axes not in (None, samples.shape[:-1]):
            _refuse_axes(self._axes, samples.shape[:-1])
        self._axes = samples.shape[:-1]
        both = np.empty((*wearers, axes + 1, count))
        both[..., :axes, :] = samples
        both[..., axes, :] = received
        self._taken += count
        if not received.all():
            self._whole_from = self._taken
        windows = []
        for window in self._ring.push(both):
            whole = self._begin >= self._whole_from
            mask = all_of((*wearers, self._length)) if whole else window[..., axes, :] > 0.0
            windows.append((window[..., :axes, :], mask))
            self._begin += self._step
        return windows


def _refuse_axes(first: tuple[int, ...] | None, found: tuple[int, ...]) -> NoReturn:
    raise SignalError(f"a chunk has the axes of the first, {first}; this has {found}")


@lru_cache(maxsize=64)
def all_of(shape: tuple[int, ...]) -> BoolArray:
    """Give a mask of what arrived whole, which nobody may write into."""
    mask = np.ones(shape, dtype=bool)
    mask.flags.writeable = False
    return mask
