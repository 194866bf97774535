"""Pieces of many streams that wait for the engine, prepared and embedded together."""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from acclock.live.chunks import Break, Chunk
from acclock.live.stream_analyzer import ChunkContexts, prepare_chunks
from acclock.service.metrics import Metrics
from acclock.service.streams.listener import EmbeddingRequest, StreamListener, StreamPart
from acclock.values import FloatArray

Work = Callable[[], None]
ReceivedPiece = tuple[StreamListener, Chunk | Break | Work]
"""A piece of a stream, or something to be done about it in its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batcher:
    """Shares the work of many streams; each hears what it would hear if it were alone."""

    metrics: Metrics
    guard: Callable[[StreamListener], AbstractContextManager[None]]
    """Keeps the trouble of one stream from the others."""

    def work(self, pieces: Iterable[ReceivedPiece]) -> None:
        """Let listeners hear their pieces; those of one stream one after the other."""
        for turn in _take_one_each(pieces):
            parts: list[tuple[StreamListener, list[StreamPart]]] = []
            for listener, piece in turn:
                with self.guard(listener):
                    if isinstance(piece, Chunk | Break):
                        parts.append((listener, [*listener.take(piece)]))
                    else:
                        piece()
            while parts:
                self._prepare(
                    [(listener, waiting.pop(0)) for listener, waiting in parts if waiting]
                )
                parts = [(listener, waiting) for listener, waiting in parts if waiting]

    def _prepare(self, parts: list[tuple[StreamListener, StreamPart]]) -> None:
        """Let each listener hear one part."""
        heard: list[tuple[StreamListener, ChunkContexts]] = []
        asked: list[tuple[StreamListener, EmbeddingRequest]] = []
        for listener, part in parts:
            with self.guard(listener):
                if (gathered := listener.collect(part)) is not None:
                    heard.append((listener, gathered))
        looked = prepare_chunks([gathered for _, gathered in heard])
        for (listener, gathered), seen in zip(heard, looked, strict=True):
            with self.guard(listener):
                pending_windows = listener.conclude(gathered, seen)
                asked += [(listener, pending_window) for pending_window in pending_windows]
        for group in _group_by_model(asked):
            self._answer(group)

    def _answer(self, asked: list[tuple[StreamListener, EmbeddingRequest]]) -> None:
        embed = asked[0][1].embed
        embeddings = embed(np.stack([pending_window.samples for _, pending_window in asked]))
        now_s = time.monotonic()
        for (listener, pending_window), embedding in zip(asked, embeddings, strict=True):
            with self.guard(listener):
                pending_window.answer(embedding, now_s)
            self.metrics.wait(now_s - pending_window.received_s)


def _group_by_model(
    asked: list[tuple[StreamListener, EmbeddingRequest]],
) -> list[list[tuple[StreamListener, EmbeddingRequest]]]:
    """Give the questions to each model together, in the order in which they were asked."""
    groups: dict[
        Callable[[FloatArray], FloatArray], list[tuple[StreamListener, EmbeddingRequest]]
    ] = {}
    for listener, pending_window in asked:
        groups.setdefault(pending_window.embed, []).append((listener, pending_window))
    return list(groups.values())


def _take_one_each(pieces: Iterable[ReceivedPiece]) -> Iterator[list[ReceivedPiece]]:
    """Give pieces in groups in which no stream has two."""
    turn: dict[str, ReceivedPiece] = {}
    for listener, piece in pieces:
        if listener.stream in turn:
            yield list(turn.values())
            turn = {}
        turn[listener.stream] = listener, piece
    if turn:
        yield list(turn.values())


_DEADLINE_S = 0.03
"""How long a piece waits for others to be worked on with: of a batch of eight each costs far less
than alone, and of a larger one little less (docs/decisions/0043)."""
_MOST_WAITING = 32
"""Pieces of one stream."""


class InboxItem(NamedTuple):
    """A piece of a stream, or something to be done about it."""

    listener: StreamListener
    piece: Chunk | Break | Work
    at_s: float


class EngineInbox:
    """Filled by the event loop, emptied by the engine's thread."""

    def __init__(self, batch: int) -> None:
        self._batch = batch
        self._items: deque[InboxItem] = deque()
        self._waiting: Counter[str] = Counter()
        self._door = threading.Condition()
        self._open = True

    def put(self, listener: StreamListener, piece: Chunk | Break | Work) -> bool:
        """Queue a piece; say no when the stream has too many waiting. Closed, it keeps nothing."""
        with self._door:
            if not self._open:
                return True
            if self._waiting[listener.stream] >= _MOST_WAITING:
                return False
            self._waiting[listener.stream] += 1
            self._items.append(InboxItem(listener, piece, time.monotonic()))
            if len(self._items) in (1, self._batch):  # to be woken costs more than to wait
                self._door.notify()
        return True

    def take(self, patience_s: float) -> list[InboxItem]:
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

    def forget(self, listener: StreamListener) -> None:
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
