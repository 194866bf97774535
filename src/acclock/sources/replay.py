"""A recording, delivered again as if it were being made now, at a pace."""

import asyncio
import time
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

import numpy as np

from acclock.errors import ConfigError
from acclock.live.chunks import Break, Chunk
from acclock.recordings import read
from acclock.sources.source import Faults, Stream
from acclock.values import Recording

CHUNK_S = 0.1
"""How much arrives at once: between one and two packets of an earphone."""


class PlaybackClock:
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


async def play(pieces: Iterator[Recording | Break], pace: PlaybackClock) -> Stream:
    """Deliver recordings end to end as a device would, and a break at the end.

    The stamps run on from one piece to the next. Samples that were not received are not
    delivered, and the chunk after them says how many they were.
    """
    begin_s, at_s, lost = pace.now_s(), 0.0, 0
    # drawing a piece may take long, and the listener has other things to do meanwhile
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        if isinstance(piece, Break):
            yield Break(reason=piece.reason, received_s=pace.now_s())
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
                    received_s=pace.now_s(),
                    lost=lost,
                )
                lost = 0
        at_s += piece.duration_s
    yield Break(reason="end", received_s=pace.now_s())


class ReplaySource:
    """Any recording that AccLock reads, in real time, faster, or as fast as it is taken.

    ``speed`` may be infinite. ``loop`` begins again at the end, with stamps that run on; the seam
    is one jolt and no break.
    """

    def __init__(
        self, recording: Recording, *, name: str, speed: float = 1.0, loop: bool = False
    ) -> None:
        self.name = name
        self.rate_hz = recording.rate_hz
        self.faults: Faults = Faults()
        self._recording = recording
        self._loop = loop
        self._pace = PlaybackClock(speed)

    @classmethod
    def of(cls, path: Path | str, *, speed: float = 1.0, loop: bool = False) -> "ReplaySource":
        """Replay a file, or ``archive.zip::inner/path``."""
        return cls(read(path), name=f"replay of {Path(path).name}", speed=speed, loop=loop)

    def now_s(self) -> float:
        return self._pace.now_s()

    def stream(self) -> Stream:
        pieces: Iterator[Recording] = (
            repeat(self._recording) if self._loop else iter([self._recording])
        )
        return play(pieces, self._pace)
