"""Whatever a source sends after it was trusted: counted, locked, and never the monitor's end."""

import asyncio
from collections.abc import Callable, Iterator
from math import inf

import numpy as np
import pytest

from acclock.errors import MonitorError
from acclock.live.chunks import Break, BreakReason, Chunk
from acclock.live.grants import Grant
from acclock.live.policies import BALANCED
from acclock.monitor.enrolled_user import EnrolledUser
from acclock.monitor.monitor import Monitor
from acclock.monitor.publisher import EventPublisher
from acclock.monitor.recorder import EventRecorder, record_events
from acclock.recognizer import Recognizer
from acclock.sources.simulator import SimulatorSource
from acclock.sources.source import Faults, Stream

BAD_S = 4.0
STEP_S = 0.1
NOISE = np.random.default_rng(0)

Bad = Callable[[float], Chunk | Break]
"""Makes what arrives at a time, in seconds since the good samples ended."""


def chunk(stamps_s: np.ndarray, received_s: float, samples: np.ndarray | None = None) -> Chunk:
    rows = 0.05 * NOISE.standard_normal((3, stamps_s.size)) if samples is None else samples
    return Chunk(samples=rows, stamps_s=stamps_s, received_s=received_s)


class Spoiled:
    """Plays twelve good seconds, lets a grant in, and goes bad."""

    name = "spoiled"
    rate_hz = 100.0

    def __init__(self, bad: Bad) -> None:
        self.faults = Faults()
        self._good = SimulatorSource("wear person-000 12 s", speed=inf)
        self._bad, self._bad_s = bad, 0.0
        self.monitor: Monitor | None = None

    def now_s(self) -> float:
        return self._good.now_s() + self._bad_s

    async def stream(self) -> Stream:
        async for piece in self._good.stream():
            if isinstance(piece, Chunk):
                yield piece
        assert self.monitor is not None
        self.monitor.grant(Grant(person="anna", expires_s=inf))
        for bad_s in self._times():
            self._bad_s = bad_s
            await asyncio.sleep(0.0)
            yield self._bad(bad_s)
        await asyncio.sleep(0.6)  # the clock is looked at twice meanwhile
        yield Break(reason="end", received_s=self.now_s())

    def _times(self) -> Iterator[float]:
        yield from np.arange(STEP_S, BAD_S, STEP_S).tolist()


def stamps(bad_s: float, count: int = 10) -> np.ndarray:
    return np.asarray(12.0 + bad_s - STEP_S + np.arange(count) / 100.0)


HOSTILE: dict[str, Bad] = {
    "not numbers": lambda at: chunk(stamps(at), at, np.full((3, 10), np.nan)),
    "infinite": lambda at: chunk(stamps(at), at, np.full((3, 10), np.inf)),
    "nothing": lambda at: chunk(np.empty(0), at, np.empty((3, 0))),
    "repeated": lambda at: chunk(np.full(10, 12.0), at),
    "reordered": lambda at: chunk(stamps(at)[::-1], at),
    "from the past": lambda at: chunk(stamps(at) - 1000.0, at),
    "from the future": lambda at: chunk(stamps(at) + 1000.0, at),
    "no stamps": lambda at: chunk(np.full(10, np.nan), at),
    "ten times the rate": lambda at: chunk(12.0 + at - STEP_S + np.arange(100) / 1000.0, at),
    "endless": lambda at: chunk(12.0 + at - STEP_S + np.arange(5000) / 100.0, at),
    "a table": lambda at: chunk(stamps(at), at, np.tile([[0.0], [0.0], [9.81]], 10)),
}


@pytest.mark.parametrize("bad", HOSTILE.values(), ids=HOSTILE)
def test_bad_samples_lock_and_do_not_end_the_monitor(recognizer: Recognizer, bad: Bad) -> None:
    source = Spoiled(bad)

    def ready(monitor: Monitor, _: EventRecorder) -> None:
        source.monitor = monitor

    recorder = asyncio.run(
        record_events(EnrolledUser(recognizer, "anna"), source, policy=BALANCED, on_ready=ready)
    )

    opened, locked = recorder.changes()
    assert (opened.state, locked.state) == ("unlocked", "locked")
    assert locked.status.reason != "the source has ended"
    assert locked.at_s - opened.at_s <= 2.5


@pytest.mark.parametrize("reason", ["disconnect", "removed", "stall", "garbage"])
def test_every_break_locks_at_once(recognizer: Recognizer, reason: BreakReason) -> None:
    source = Spoiled(lambda at: Break(reason=reason, received_s=at))

    def ready(monitor: Monitor, _: EventRecorder) -> None:
        source.monitor = monitor

    recorder = asyncio.run(
        record_events(EnrolledUser(recognizer, "anna"), source, policy=BALANCED, on_ready=ready)
    )

    opened, locked = recorder.changes()
    assert locked.at_s - opened.at_s <= STEP_S + 0.01


def test_without_a_watchdog_nothing_is_open(recognizer: Recognizer) -> None:
    user, source = (
        EnrolledUser(recognizer, "anna"),
        SimulatorSource("wear person-000 60 s", speed=inf),
    )
    publisher = EventPublisher([], person=user.name, device=source.name)

    async def run() -> None:
        await Monitor(user, source, publisher, policy=BALANCED).run(beat=lambda: False)

    with pytest.raises(MonitorError, match="watchdog is gone"):
        asyncio.run(run())
