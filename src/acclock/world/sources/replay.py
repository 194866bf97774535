"""A recording, delivered again as if it were being made now."""

from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

from acclock.values import Recording
from acclock.world.files import read
from acclock.world.sources.pacing import Pace, play
from acclock.world.sources.source import Faults, Stream


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
        self._pace = Pace(speed)

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
