"""What every live source is: a name, a rate, a clock, and a stream of chunks and breaks."""

import time
from collections import Counter
from collections.abc import AsyncGenerator
from typing import Literal, Protocol

from acclock.live.chunks import Break, BreakReason, Chunk

Stream = AsyncGenerator[Chunk | Break, None]
"""Close it when done, as ``async with contextlib.aclosing(source.stream())`` does: a source that
holds a connection lets go of it then, and when its task is cancelled."""

Fault = Literal[
    "damaged frame",
    "repeated frame",
    "late frame",
    "lost frame",
    "oversized message",
    "unknown message",
    "truncated packet",
    "damaged packet",
    "repeated packet",
    "lost packet",
    "refused caller",
    "disconnect",
    "refused connection",
    "stall",
    "overflow",
]
Faults = Counter[Fault]
"""What went wrong so far, by name, and how often."""


class Source(Protocol):
    """Where samples come from, one chunk after the other.

    A stream never raises for what a device or a network does: that is counted in ``faults`` and,
    where trust must end, told as a :class:`Break`. It ends by itself only after a ``Break`` with
    the reason ``end``.
    """

    @property
    def name(self) -> str:
        """What the source is called in messages and events."""
        ...

    @property
    def rate_hz(self) -> float:
        """How many samples a second it is meant to deliver."""
        ...

    @property
    def faults(self) -> Faults: ...

    def now_s(self) -> float:
        """Give the time of the clock that ``received_s`` of its chunks and breaks is in."""
        ...

    def stream(self) -> Stream: ...


def break_off(reason: BreakReason) -> Break:
    """Make a break that is heard now, by the clock of sources that are really live."""
    return Break(reason=reason, received_s=time.monotonic())
