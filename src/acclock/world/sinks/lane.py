"""One output's own queue and task, so that nobody waits for it."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from acclock.session.events import Event, State, Status
from acclock.world.sinks.sink import Sink, state_after

_PARTING_S = 0.2
"""How long a hung output is given to clean up after itself before the next thing is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What became of the things that one output was to be told."""

    told: int = 0
    refreshed: int = 0
    failed: int = 0
    dropped: int = 0
    """Refreshes that a newer one replaced, and events that did not fit."""
    overtaken: int = 0
    """News of an open session that a lock overtook: telling it late would open a locked door."""
    trouble: str = ""
    """What went wrong last."""


class Lane:
    """Passes things on to one output, one at a time, the newest refresh and every lock.

    A lock never waits behind news of an open session: it discards what is queued and cuts short
    what is under way.
    """

    def __init__(
        self, sink: Sink, *, patience_s: float, longest: int, report: Callable[[str], None]
    ) -> None:
        self.sink = sink
        self.tally = Tally()
        self._patience_s, self._longest, self._report = patience_s, longest, report
        self._events: deque[Event] = deque()
        self._status: Status | None = None
        self._news, self._idle, self._hurry = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._doing: State | None = None
        self._reported = ""
        self._idle.set()

    def tell(self, event: Event) -> None:
        """Queue an event and return at once."""
        if state_after(event) == "locked":
            self._overtake()
        if len(self._events) >= self._longest:
            self._evict()
        self._events.append(event)
        self._wake()

    def refresh(self, status: Status) -> None:
        """Queue a refresh in place of one that still waits, and return at once."""
        self._count(dropped=int(self._status is not None))
        self._status = status
        self._wake()

    async def run(self) -> None:
        """Pass things on until cancelled."""
        while True:
            await self._news.wait()
            if (work := self._take()) is not None:
                await self._carry_out(work)
            else:
                self._news.clear()
                self._idle.set()

    async def drained(self) -> None:
        """Wait until nothing is queued or under way."""
        await self._idle.wait()

    def _wake(self) -> None:
        self._idle.clear()
        self._news.set()

    def _take(self) -> Event | Status | None:
        self._hurry.clear()
        if self._events:
            return self._events.popleft()
        status, self._status = self._status, None
        return status

    def _overtake(self) -> None:
        kept = [event for event in self._events if state_after(event) == "locked"]
        gone = len(self._events) - len(kept) + int(self._status is not None)
        self._events, self._status = deque(kept), None
        if self._doing == "unlocked":
            self._hurry.set()
        self._count(overtaken=gone)

    def _evict(self) -> None:
        open_ones = (event for event in self._events if state_after(event) == "unlocked")
        self._events.remove(next(open_ones, self._events[0]))
        self._count(dropped=1)

    async def _carry_out(self, work: Event | Status) -> None:
        told = isinstance(work, Event)
        self._doing = state_after(work) if isinstance(work, Event) else work.state
        trouble = await self._watch(asyncio.create_task(self._pass_on(work)))
        self._doing = None
        if trouble is None:
            self._reported = ""
            self._count(told=int(told), refreshed=int(not told))
        elif self._hurry.is_set():
            self._count(overtaken=1)
        else:
            self._note(trouble)

    async def _pass_on(self, work: Event | Status) -> str | None:
        try:
            if isinstance(work, Event):
                await self.sink.tell(work)
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

    def _note(self, trouble: str) -> None:
        self._count(failed=1)
        self.tally = replace(self.tally, trouble=trouble)
        if trouble != self._reported:  # a refresh that fails twice a second is one story
            self._reported = trouble
            self._report(f"{self.sink.name}: {trouble}")

    def _count(self, **more: int) -> None:
        raised = {name: getattr(self.tally, name) + number for name, number in more.items()}
        self.tally = replace(self.tally, **raised)
