"""Time that is set by hand, and what is written down of it."""

import asyncio
import selectors
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from typing import TypeVar, TypeVarTuple, Unpack

import pytest

Row = tuple[float, str, str, str]
"""When, since the beginning of the stream; the state, its reason, and the confidence."""
Given = TypeVar("Given")
Taken = TypeVarTuple("Taken")
BEGIN_S = 1000.0
"""What the clock shows when streams begin."""


class Clock:
    """Shows what it was set to."""

    def __init__(self) -> None:
        self.now_s = BEGIN_S

    @property
    def passed_s(self) -> float:
        return self.now_s - BEGIN_S

    def set(self, passed_s: float) -> None:
        self.now_s = max(self.now_s, BEGIN_S + passed_s)

    def skip(self, by_s: float) -> None:
        self.now_s += by_s


@contextmanager
def manual_clock() -> Iterator[Clock]:
    """Let everybody's monotonic clock, that of event loops too, show what it is set to.

    Threads would take real time: their work is done at once, where they are started.
    """
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", threading.Thread.run)
        patch.setattr(time, "monotonic", lambda: clock.now_s)
        yield clock


@dataclass
class TraceRecorder:
    """The rows of one stream: one each time that something has changed."""

    clock: Clock
    rows: list[Row] = field(default_factory=list)

    def record(self, state: str, reason: str, confidence: str = "low") -> None:
        if not self.rows or self.rows[-1][1:] != (state, reason, confidence):
            self.rows.append((round(self.clock.passed_s, 2), state, reason, confidence))


class _LeapingSelector(selectors.SelectSelector):
    """Where an event loop would wait, the clock leaps."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("everything waits, and nothing will happen any more")
        if not ready and timeout:
            self._clock.skip(timeout)
        return ready


class ManualLoop(asyncio.SelectorEventLoop):
    """An event loop that never waits, and does the work of threads itself."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(_LeapingSelector(clock))

    def run_in_executor(
        self,
        _executor: Executor | None,
        func: Callable[[Unpack[Taken]], Given],
        *args: *Taken,
    ) -> "asyncio.Future[Given]":
        future: asyncio.Future[Given] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - it is raised where it is awaited
            future.set_exception(error)
        return future


class ImpatientCondition(threading.Condition):
    """Waits for nothing."""

    def wait_for(self, predicate: Callable[[], Given], _timeout: float | None = None) -> Given:
        return predicate()


Timed = tuple[float, Callable[[], None]]


class Timeline:
    """What happens on the event loop, at its time, whether or not the engine is at work."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._events: deque[Timed] = deque()

    def plan(self, events: Iterable[Timed]) -> None:
        self._events = deque(sorted([*self._events, *events], key=lambda one: one[0]))

    @property
    def next_s(self) -> float:
        return self._events[0][0] if self._events else inf

    def wait(self, for_s: float) -> None:
        until_s = self._clock.passed_s + for_s
        while self.next_s <= until_s + 1e-9:
            at_s, happen = self._events.popleft()
            self._clock.set(at_s)
            happen()
        self._clock.set(until_s)
