"""Recordings played as if they were live, at a pace."""

import asyncio
import time
from collections.abc import Iterator

import numpy as np

from acclock.errors import ConfigError
from acclock.session.chunks import Break, Chunk
from acclock.values import Recording
from acclock.world.sources.source import Stream

CHUNK_S = 0.1
"""How much arrives at once: between one and two packets of an earphone."""


class Pace:
    """A clock that runs ``speed`` times as fast as a real one.

    With an infinite speed it is always as late as it was last asked to wait for, so that
    whoever listens takes as long as it needs and still sees the times of real life.
    """

    def __init__(self, speed: float = 1.0) -> None:
        if not speed > 0:
            raise ConfigError(f"a speed is positive, not {speed:g}")
        self.speed = speed
        self._begin_s = self._reached_s = time.monotonic()

    def now_s(self) -> float:
        if np.isinf(self.speed):
            return self._reached_s
        return self._begin_s + (time.monotonic() - self._begin_s) * self.speed

    async def reach(self, moment_s: float) -> None:
        """Wait until the clock shows this moment; always lets others run."""
        self._reached_s = max(self._reached_s, moment_s)
        await asyncio.sleep(max(0.0, (moment_s - self.now_s()) / self.speed))


async def play(pieces: Iterator[Recording | Break], pace: Pace) -> Stream:
    """Deliver recordings end to end as a device would, and a break at the end.

    The stamps run on from one piece to the next. Samples that were not received are not
    delivered, and the chunk after them says how many they were.
    """
    begin_s, at_s, lost = pace.now_s(), 0.0, 0
    # drawing a piece may take long, and the listener has other things to do meanwhile
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        if isinstance(piece, Break):
            yield Break(reason=piece.reason, heard_s=pace.now_s())
            continue
        length = max(1, round(CHUNK_S * piece.rate_hz))
        for start in range(0, len(piece), length):
            part = slice(start, start + length)
            here = np.flatnonzero(piece.received[part]) + start
            taken = min(len(piece), start + length)
            await pace.reach(begin_s + at_s + taken / piece.rate_hz)
            lost += taken - start - here.size
            if here.size:
                yield Chunk(
                    samples=piece.samples[:, here],
                    stamps_s=at_s + here / piece.rate_hz,
                    heard_s=pace.now_s(),
                    lost=lost,
                )
                lost = 0
        at_s += piece.duration_s
    yield Break(reason="end", heard_s=pace.now_s())
