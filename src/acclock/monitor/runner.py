"""A monitor at its post: with its outputs, its watchdog, its socket, and an ear for signals."""

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from acclock.access.grants import GrantRegister
from acclock.access.local_socket import Handler, LocalSocket
from acclock.access.signing_keys import signing_key
from acclock.access.watchdog import Watchdog
from acclock.errors import GrantError
from acclock.live.events import SessionEvent, SessionStatus
from acclock.live.grants import Grant
from acclock.live.policies import BALANCED, Policy
from acclock.monitor.enrolled_user import EnrolledUser
from acclock.monitor.monitor import Monitor
from acclock.monitor.publisher import EventPublisher, Listener
from acclock.sinks.assertion import Assertions
from acclock.sinks.outbox import Outbox
from acclock.sinks.parsing import lock_commands
from acclock.sinks.sink import Sink, state_after
from acclock.sources import Source

LONGEST_SESSION_S = 12 * 3600.0
"""After which another factor is asked for again, as NIST SP 800-63B has it (AAL2)."""
_BEAT_S = 0.5
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MonitorRunner:
    """Whom to watch over by what, and who hears of it."""

    user: EnrolledUser
    source: Source
    policy: Policy = BALANCED
    sinks: Sequence[Sink] = ()
    listeners: Sequence[Listener] = ()
    """Who else is told, in this process."""
    home: Path
    """Where the keys are that sign grants and assertions."""
    socket: Path
    """Where programs of this machine bring grants and ask how it stands."""
    report: Callable[[str], None]
    """Hears one sentence for each thing that an output did not take, and each task that failed."""

    async def keep(
        self, *, for_s: float = inf, on_ready: Callable[[Monitor], None] = lambda _: None
    ) -> signal.Signals | None:
        """Watch until the source ends, for a time, or until a signal, which is given back.

        Everything is locked when this returns or raises. The watchdog says goodbye only to a
        monitor that ends in good order and has locked everything: after any other it locks by its
        own hand.
        """

        def complain(trouble: str) -> None:
            self.report(trouble)
            publisher.complain(trouble)

        def lock() -> None:
            monitor.lock()

        with Watchdog(lock_commands(self.sinks)) as dog, ExitStack() as parting:
            outputs = Outbox(self.sinks, report=complain, lock=lock)
            async with outputs as outbox, AsyncExitStack() as stack:
                board = Assertions(signing_key(self.home, "assertions"))
                publisher = EventPublisher(
                    [outbox, _Board(board), *self.listeners],
                    person=self.user.name,
                    device=self.source.name,
                )
                monitor = Monitor(
                    self.user, self.source, publisher, policy=self.policy, report=complain
                )
                door = LocalSocket(
                    self.socket, {"state": board.answer, "grant": self._open_book(monitor)}
                )
                await door.open()
                stack.push_async_callback(door.close)
                on_ready(monitor)
                with _stopping(monitor) as caught:
                    await monitor.run(for_s=for_s, beat=dog.beat)
                parting.enter_context(_beating(dog))  # while outputs are waited for
            if outbox.left_open:
                dog.abandon()
        return caught[0] if caught else None

    def _open_book(self, monitor: Monitor) -> Handler:
        """Give who answers those that bring a grant.

        A grant says until when it may open a session; how long that may then last without another
        factor is the monitor's to say. Nothing is granted to who was removed a moment ago.
        """
        book = GrantRegister(self.user.name, key=signing_key(self.home, "grants"))

        async def take(leave: Grant) -> None:
            if not await asyncio.to_thread(self.user.is_known):
                raise GrantError(f"{self.user.name} is no longer in the vault; nothing opens")
            monitor.grant(replace(leave, expires_s=self.source.now_s() + LONGEST_SESSION_S))

        return book.answers(take, now_s=self.source.now_s)


class _Board:
    """Keeps the assertions up to date."""

    def __init__(self, assertions: Assertions) -> None:
        self._assertions = assertions

    def notify(self, event: SessionEvent) -> None:
        self._assertions.hear(event.status, state_after(event))

    def refresh(self, status: SessionStatus) -> None:
        self._assertions.hear(status, status.state)


@contextmanager
def _stopping(monitor: Monitor) -> Iterator[list[signal.Signals]]:
    """Let signals end the monitor in good order; gives the list of those that came."""
    loop = asyncio.get_running_loop()
    caught: list[signal.Signals] = []

    def stop(which: signal.Signals) -> None:
        caught.append(which)
        monitor.stop()

    for which in _SIGNALS:
        loop.add_signal_handler(which, stop, which)
    try:
        yield caught
    finally:
        for which in _SIGNALS:
            loop.remove_signal_handler(which)


@contextmanager
def _beating(dog: Watchdog) -> Iterator[None]:
    """Tell the watchdog that all is well for as long as the event loop turns."""

    async def beat() -> None:
        while dog.beat():
            await asyncio.sleep(_BEAT_S)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
