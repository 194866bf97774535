"""One output's own queue and task; a lock is repeated until the output confirms it."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Self

from acclock.live.events import SessionEvent, SessionStatus, State
from acclock.sinks.sink import SHUTTING, Sink, state_after
from acclock.system.supervision import Retry


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryCounts:
    """Counts, and the last trouble.

    >>> DeliveryCounts().more(told=1).told
    1
    """

    told: int = 0
    refreshed: int = 0
    failed: int = 0
    dropped: int = 0
    """Refreshes that a newer one replaced, and events that did not fit."""
    overtaken: int = 0
    """News of an open session that a lock overtook: telling it late would open a locked door."""
    trouble: str = ""
    """What went wrong last."""

    def more(self, **counts: int) -> Self:
        """Give the tally with so many more of each."""
        raised = {name: getattr(self, name) + number for name, number in counts.items()}
        return replace(self, **raised)


class SinkQueue:
    """Room for so many events. A lock discards news of an open session; so does want of room."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._events: deque[SessionEvent] = deque()
        self._status: SessionStatus | None = None

    @property
    def locks(self) -> bool:
        """Whether a lock waits."""
        return any(state_after(event) == "locked" for event in self._events)

    def add(self, event: SessionEvent) -> dict[str, int]:
        """Take an event; give how many things it overtook, and how many were dropped for it."""
        overtaken = self._overtake() if state_after(event) == "locked" else 0
        dropped = int(len(self._events) >= self._longest)
        if dropped:
            open_ones = (one for one in self._events if state_after(one) == "unlocked")
            self._events.remove(next(open_ones, self._events[0]))
        self._events.append(event)
        return {"overtaken": overtaken, "dropped": dropped}

    def replace(self, status: SessionStatus) -> bool:
        """Take a refresh in place of one that still waits; tell whether one did."""
        replaced, self._status = self._status is not None, status
        return replaced

    def pop_event(self) -> SessionEvent | None:
        return self._events.popleft() if self._events else None

    def pop_status(self) -> SessionStatus | None:
        status, self._status = self._status, None
        return status

    def clear(self) -> None:
        self._events.clear()
        self._status = None

    def _overtake(self) -> int:
        kept = [event for event in self._events if state_after(event) == "locked"]
        gone = len(self._events) - len(kept) + int(self._status is not None)
        self._events, self._status = deque(kept), None
        return gone


_RETRY = Retry(first_s=0.5, longest_s=30.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnackedLock:
    """What one output still has to be told."""

    event: SessionEvent | None = None
    failures: int = 0
    due_s: float = inf
    """When to tell it once more, on the clock of the event loop."""


def settle(unacked: UnackedLock, event: SessionEvent, *, failed: bool, now_s: float) -> UnackedLock:
    """Give what is owed after an output has taken an event, or failed to.

    A lock that failed is owed. A lock that was taken, or news of an open session, ends the debt;
    other news changes nothing.
    """
    if event.kind not in SHUTTING:
        return UnackedLock() if state_after(event) == "unlocked" else unacked
    if not failed:
        return UnackedLock()
    failures = unacked.failures + 1
    return UnackedLock(
        event=event, failures=failures, due_s=now_s + _RETRY.wait_s(failures, draw=1.0)
    )


_LOOK_S = 0.05
_PARTING_S = 0.2
"""How long a hung output is given to clean up after itself before the next thing is told."""


class SinkWorker:
    """Passes things on to one output, one at a time, the newest refresh and every lock.

    A lock never waits behind news of an open session: it discards what is queued and cuts short
    what is under way. A lock that the output does not take is told again, ever more rarely.
    """

    def __init__(
        self, sink: Sink, *, patience_s: float, longest: int, report: Callable[[str], None]
    ) -> None:
        self.sink = sink
        self.tally = DeliveryCounts()
        self._patience_s, self._report = patience_s, report
        self._waiting, self._unacked = SinkQueue(longest), UnackedLock()
        self._news, self._idle, self._hurry = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._doing: SessionEvent | SessionStatus | None = None
        self._reported: dict[type, str] = {}
        self._idle.set()

    @property
    def owes_a_lock(self) -> bool:
        """Whether a lock waits, is under way or was not taken."""
        doing = isinstance(self._doing, SessionEvent) and state_after(self._doing) == "locked"
        return doing or self._waiting.locks or self._unacked.event is not None

    def notify(self, event: SessionEvent) -> None:
        """Queue an event and return at once."""
        if state_after(event) == "locked" and self._doing and _state(self._doing) == "unlocked":
            self._hurry.set()
        self._count(**self._waiting.add(event))
        self._wake()

    def refresh(self, status: SessionStatus) -> None:
        """Queue a refresh in place of one that still waits, and return at once."""
        self._count(dropped=int(self._waiting.replace(status)))
        self._wake()

    def clear(self) -> None:
        """Owe nothing any more."""
        self._waiting.clear()
        self._unacked, self._doing = UnackedLock(), None

    def owe(self) -> None:
        """Owe what was under way when the task ended: nobody knows whether it was taken."""
        if isinstance(work := self._doing, SessionEvent):
            now_s = asyncio.get_running_loop().time()
            self._unacked = settle(self._unacked, work, failed=True, now_s=now_s)
        self._doing = None

    async def run(self) -> None:
        """Pass things on until cancelled."""
        while True:
            await self._wait()
            if (work := self._next()) is not None:
                await self._carry_out(work)
            else:
                self._news.clear()
                self._idle.set()

    async def drained(self) -> None:
        """Wait until nothing is queued or under way; what is owed may be tried again later."""
        await self._idle.wait()

    async def settled(self) -> None:
        """Wait until no lock is owed either."""
        while self.owes_a_lock:
            await asyncio.sleep(_LOOK_S)

    async def _wait(self) -> None:
        """Wait for news, or until it is time to tell once more what was not taken."""
        due_s = self._unacked.due_s - asyncio.get_running_loop().time()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), due_s if self._unacked.event else None)

    def _wake(self) -> None:
        self._idle.clear()
        self._news.set()

    def _next(self) -> SessionEvent | SessionStatus | None:
        self._hurry.clear()
        if (event := self._waiting.pop_event()) is not None:
            return event
        if self._unacked.event and asyncio.get_running_loop().time() >= self._unacked.due_s:
            self._idle.clear()
            return self._unacked.event
        return self._waiting.pop_status()

    async def _carry_out(self, work: SessionEvent | SessionStatus) -> None:
        told = isinstance(work, SessionEvent)
        self._doing = work
        trouble = await self._watch(asyncio.create_task(self._pass_on(work)))
        self._doing = None
        if isinstance(work, SessionEvent):
            now_s = asyncio.get_running_loop().time()
            self._unacked = settle(self._unacked, work, failed=trouble is not None, now_s=now_s)
        if trouble is None:
            if self._unacked.event is None:
                self._reported.pop(type(work), None)
            self._count(told=int(told), refreshed=int(not told))
        elif self._hurry.is_set():
            self._count(overtaken=1)
        else:
            self._note(work, trouble)

    async def _pass_on(self, work: SessionEvent | SessionStatus) -> str | None:
        try:
            if isinstance(work, SessionEvent):
                await self.sink.notify(work)
            else:
                await self.sink.refresh(work)
        except Exception as error:  # noqa: BLE001 - whatever one output does, the others go on
            return str(error) or type(error).__name__
        return None

    async def _watch(self, task: "asyncio.Task[str | None]") -> str | None:
        hurry = asyncio.create_task(self._hurry.wait())
        try:
            await asyncio.wait(
                {task, hurry}, timeout=self._patience_s, return_when=asyncio.FIRST_COMPLETED
            )
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=_PARTING_S)
        finally:
            hurry.cancel()
            task.cancel()
        if task.done() and not task.cancelled():
            return task.result()
        return f"did not answer within {self._patience_s:g} s"

    def _note(self, work: SessionEvent | SessionStatus, trouble: str) -> None:
        """Report what went wrong, but not that an output cannot even be told of trouble."""
        self._count(failed=1)
        self.tally = replace(self.tally, trouble=trouble)
        told_of_trouble = isinstance(work, SessionEvent) and work.kind == "trouble"
        if trouble != self._reported.get(type(work)) and not told_of_trouble:
            self._reported[type(work)] = trouble  # what fails again and again is one story
            self._report(f"{self.sink.name}: {trouble}")

    def _count(self, **more: int) -> None:
        self.tally = self.tally.more(**more)


def _state(work: SessionEvent | SessionStatus) -> State:
    return state_after(work) if isinstance(work, SessionEvent) else work.state
