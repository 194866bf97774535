"""Who takes part in an evaluation, and with which of their recordings."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time

from acclock.errors import SignalError
from acclock.values import Recording
from acclock.world.files import Loaded

SHORTEST_S = 60.0
"""Recordings that last less are left out."""
CUT_S = 5.0
"""What is cut off at both ends, where hands are busy with the device."""
MOST_RECORDINGS = 10
"""Of one person, so that nobody counts for much more than the others."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Participant:
    """One person with the recordings that count, in the order in which they were taken."""

    name: str
    """With the data set before it, as a model's card knows people: ``mscardio/Subject_0001``."""
    recordings: tuple[Recording, ...]

    def __post_init__(self) -> None:
        if not self.recordings:
            raise SignalError(f"{self.name} takes part without a recording")

    @property
    def device(self) -> str | None:
        return self.recordings[0].device

    def tell(self, label: str) -> str | None:
        """Give what the data set says about the person under a label, if it says anything."""
        told = self.recordings[0].labels.get(label, "").strip()
        return None if told.lower() in ("", "none", "unknown", "nan") else told


def choose_recordings(loaded: Iterable[Loaded]) -> tuple[Recording, ...]:
    """Give the recordings of one person that count: long enough, the first ten, ends cut off."""
    readable = [(one.recording, _moment(one)) for one in loaded if one.recording is not None]
    enough = [(moment, one) for one, moment in readable if one.duration_s >= SHORTEST_S]
    in_order = sorted(enough, key=lambda pair: (pair[0], _count_through(pair[1].session)))
    return tuple(cut_ends(recording) for _, recording in in_order[:MOST_RECORDINGS])


def cut_ends(recording: Recording) -> Recording:
    """Give a recording without its first and its last five seconds.

    >>> import numpy as np
    >>> cut_ends(Recording(samples=np.ones((3, 6000)), rate_hz=100.0)).duration_s
    50.0
    """
    count = round(CUT_S * recording.rate_hz)
    kept = slice(count, len(recording) - count)
    return replace(recording, samples=recording.samples[:, kept], received=recording.received[kept])


def _moment(loaded: Loaded) -> float:
    """Tell when a recording began; where only the day is known, when that began."""
    start = loaded.entry.start or (loaded.recording.start if loaded.recording else None)
    day = loaded.entry.day
    if start is None and day is not None:
        start = datetime.combine(day, time(), UTC)
    return start.timestamp() if start is not None else 0.0


def _count_through(session: str | None) -> list[str | int]:
    """Let session 9 come before session 10."""
    parts = re.split(r"(\d+)", session or "")
    return [int(part) if n % 2 else part for n, part in enumerate(parts)]
