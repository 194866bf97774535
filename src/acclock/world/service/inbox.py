"""Pieces of all streams that wait for the engine, so many of each and no more."""

import threading
import time
from collections import Counter, deque
from typing import NamedTuple

from acclock.session.chunks import Break, Chunk
from acclock.world.service.batches import Work
from acclock.world.service.listeners import Listener

_DEADLINE_S = 0.03
"""How long a piece waits for others to be worked on with: of a batch of eight each costs far less
than alone, and of a larger one little less (docs/decisions/0043)."""
_MOST_WAITING = 32
"""Pieces of one stream."""


class Item(NamedTuple):
    """A piece of a stream, or something to be done about it."""

    listener: Listener
    piece: Chunk | Break | Work
    at_s: float


class Inbox:
    """Filled by the event loop, emptied by the engine's thread."""

    def __init__(self, batch: int) -> None:
        self._batch = batch
        self._items: deque[Item] = deque()
        self._waiting: Counter[str] = Counter()
        self._door = threading.Condition()
        self._open = True

    def put(self, listener: Listener, piece: Chunk | Break | Work) -> bool:
        """Queue a piece; say no when the stream has too many waiting. Closed, it keeps nothing."""
        with self._door:
            if not self._open:
                return True
            if self._waiting[listener.stream] >= _MOST_WAITING:
                return False
            self._waiting[listener.stream] += 1
            self._items.append(Item(listener, piece, time.monotonic()))
            if len(self._items) in (1, self._batch):  # to be woken costs more than to wait
                self._door.notify()
        return True

    def take(self, patience_s: float) -> list[Item]:
        """Wait for pieces, a moment longer for more of them, and give what makes a batch."""
        with self._door:
            self._door.wait_for(lambda: self._items or not self._open, patience_s)
            if self._items:
                left_s = self._items[0].at_s + _DEADLINE_S - time.monotonic()
                self._door.wait_for(self._has_enough, max(left_s, 0.0))
            items = [self._items.popleft() for _ in range(min(self._batch, len(self._items)))]
            self._waiting.subtract(item.listener.stream for item in items)
            self._waiting = +self._waiting  # nothing stays of a stream that is gone
        return items

    def forget(self, listener: Listener) -> None:
        """Drop what waits of a stream."""
        with self._door:
            if self._waiting.pop(listener.stream, 0):
                self._items = deque(one for one in self._items if one.listener is not listener)

    def open(self) -> None:
        """Keep pieces again."""
        with self._door:
            self._open = True

    def close(self) -> None:
        """Drop everything, keep nothing more, and let nobody wait any longer."""
        with self._door:
            self._open = False
            self._items.clear()
            self._waiting.clear()
            self._door.notify()

    def _has_enough(self) -> bool:
        return len(self._items) >= self._batch or not self._open
