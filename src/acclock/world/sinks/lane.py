"""One output's own queue and task, so that nobody waits for it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from acclock.session.events import Event, State, Status
from acclock.world.sinks.debt import Debt, settle
from acclock.world.sinks.sink import Sink, state_after
from acclock.world.sinks.tally import Tally
from acclock.world.sinks.waiting import Waiting

_LOOK_S = 0.05
_PARTING_S = 0.2
"""How long a hung output is given to clean up after itself before the next thing is told."""


class Lane:
    """Passes things on to one output, one at a time, the newest refresh and every lock.

    A lock never waits behind news of an open session: it discards what is queued and cuts short
    what is under way. A lock that the output does not take is told again, ever more rarely.
    """

    def __init__(
        self, sink: Sink, *, patience_s: float, longest: int, report: Callable[[str], None]
    ) -> None:
        self.sink = sink
        self.tally = Tally()
        self._patience_s, self._report = patience_s, report
        self._waiting, self._debt = Waiting(longest), Debt()
        self._news, self._idle, self._hurry = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._doing: Event | Status | None = None
        self._reported: dict[type, str] = {}
        self._idle.set()

    @property
    def owes_a_lock(self) -> bool:
        """Whether a lock waits, is under way or was not taken."""
        doing = isinstance(self._doing, Event) and state_after(self._doing) == "locked"
        return doing or self._waiting.locks or self._debt.event is not None

    def tell(self, event: Event) -> None:
        """Queue an event and return at once."""
        if state_after(event) == "locked" and self._doing and _state(self._doing) == "unlocked":
            self._hurry.set()
        self._count(**self._waiting.add(event))
        self._wake()

    def refresh(self, status: Status) -> None:
        """Queue a refresh in place of one that still waits, and return at once."""
        self._count(dropped=int(self._waiting.replace(status)))
        self._wake()

    def clear(self) -> None:
        """Owe nothing any more."""
        self._waiting.clear()
        self._debt, self._doing = Debt(), None

    def owe(self) -> None:
        """Owe what was under way when the task ended: nobody knows whether it was taken."""
        if isinstance(work := self._doing, Event):
            now_s = asyncio.get_running_loop().time()
            self._debt = settle(self._debt, work, failed=True, now_s=now_s)
        self._doing = None

    async def run(self) -> None:
        """Pass things on until cancelled."""
        while True:
            await self._wait()
            if (work := self._take()) is not None:
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
        due_s = self._debt.due_s - asyncio.get_running_loop().time()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), due_s if self._debt.event else None)

    def _wake(self) -> None:
        self._idle.clear()
        self._news.set()

    def _take(self) -> Event | Status | None:
        self._hurry.clear()
        if (event := self._waiting.take_event()) is not None:
            return event
        if self._debt.event and asyncio.get_running_loop().time() >= self._debt.due_s:
            self._idle.clear()
            return self._debt.event
        return self._waiting.take_status()

    async def _carry_out(self, work: Event | Status) -> None:
        told = isinstance(work, Event)
        self._doing = work
        trouble = await self._watch(asyncio.create_task(self._pass_on(work)))
        self._doing = None
        if isinstance(work, Event):
            now_s = asyncio.get_running_loop().time()
            self._debt = settle(self._debt, work, failed=trouble is not None, now_s=now_s)
        if trouble is None:
            if self._debt.event is None:
                self._reported.pop(type(work), None)
            self._count(told=int(told), refreshed=int(not told))
        elif self._hurry.is_set():
            self._count(overtaken=1)
        else:
            self._note(work, trouble)

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

    def _note(self, work: Event | Status, trouble: str) -> None:
        """Report what went wrong, but not that an output cannot even be told of trouble."""
        self._count(failed=1)
        self.tally = replace(self.tally, trouble=trouble)
        told_of_trouble = isinstance(work, Event) and work.kind == "trouble"
        if trouble != self._reported.get(type(work)) and not told_of_trouble:
            self._reported[type(work)] = trouble  # what fails again and again is one story
            self._report(f"{self.sink.name}: {trouble}")

    def _count(self, **more: int) -> None:
        self.tally = self.tally.more(**more)


def _state(work: Event | Status) -> State:
    return state_after(work) if isinstance(work, Event) else work.state
