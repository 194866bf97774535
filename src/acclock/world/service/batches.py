"""Pieces of many streams worked on together: prepared in one go, embedded in few batches."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from acclock.session.chunks import Break, Chunk
from acclock.session.ear import Overheard, look_together
from acclock.values import FloatArray
from acclock.world.service.listeners import Asked, Listener
from acclock.world.service.metrics import Metrics
from acclock.world.service.pieces import Part

Work = Callable[[], None]
Heard = tuple[Listener, Chunk | Break | Work]
"""A piece of a stream, or something to be done about it in its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batcher:
    """Shares the work of many streams; each hears what it would hear if it were alone."""

    metrics: Metrics
    guard: Callable[[Listener], AbstractContextManager[None]]
    """Keeps the trouble of one stream from the others."""

    def work(self, pieces: Iterable[Heard]) -> None:
        """Let listeners hear their pieces; those of one stream one after the other."""
        for turn in _take_turns(pieces):
            parts: list[tuple[Listener, list[Part]]] = []
            for listener, piece in turn:
                with self.guard(listener):
                    if isinstance(piece, Chunk | Break):
                        parts.append((listener, [*listener.take(piece)]))
                    else:
                        piece()
            while parts:
                self._hear([(listener, waiting.pop(0)) for listener, waiting in parts if waiting])
                parts = [(listener, waiting) for listener, waiting in parts if waiting]

    def _hear(self, parts: list[tuple[Listener, Part]]) -> None:
        """Let each listener hear one part."""
        heard: list[tuple[Listener, Overheard]] = []
        asked: list[tuple[Listener, Asked]] = []
        for listener, part in parts:
            with self.guard(listener):
                if (overheard := listener.overhear(part)) is not None:
                    heard.append((listener, overheard))
        looked = look_together([overheard for _, overheard in heard])
        for (listener, overheard), seen in zip(heard, looked, strict=True):
            with self.guard(listener):
                questions = listener.understand(overheard, seen)
                asked += [(listener, question) for question in questions]
        for group in _group_by_model(asked):
            self._answer(group)

    def _answer(self, asked: list[tuple[Listener, Asked]]) -> None:
        embed = asked[0][1].embed
        embeddings = embed(np.stack([question.samples for _, question in asked]))
        now_s = time.monotonic()
        for (listener, question), embedding in zip(asked, embeddings, strict=True):
            with self.guard(listener):
                question.answer(embedding, now_s)
            self.metrics.wait(now_s - question.heard_s)


def _group_by_model(asked: list[tuple[Listener, Asked]]) -> list[list[tuple[Listener, Asked]]]:
    """Give the questions to each model together, in the order in which they were asked."""
    groups: dict[Callable[[FloatArray], FloatArray], list[tuple[Listener, Asked]]] = {}
    for listener, question in asked:
        groups.setdefault(question.embed, []).append((listener, question))
    return list(groups.values())


def _take_turns(pieces: Iterable[Heard]) -> Iterator[list[Heard]]:
    """Give pieces in groups in which no stream has two."""
    turn: dict[str, Heard] = {}
    for listener, piece in pieces:
        if listener.stream in turn:
            yield list(turn.values())
            turn = {}
        turn[listener.stream] = listener, piece
    if turn:
        yield list(turn.values())
