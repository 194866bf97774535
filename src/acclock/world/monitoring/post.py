"""A monitor at its post: with its outputs, its watchdog, its socket, and an ear for signals."""

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from acclock.session.events import Event, Status
from acclock.session.grants import Grant
from acclock.session.policies import BALANCED, Policy
from acclock.world.grants import GrantBook
from acclock.world.local_socket import LocalSocket
from acclock.world.monitoring.herald import Hearer, Herald
from acclock.world.monitoring.monitor import Monitor
from acclock.world.monitoring.ward import Ward
from acclock.world.signing_keys import signing_key
from acclock.world.sinks.assertion import Assertions
from acclock.world.sinks.outbox import Outbox
from acclock.world.sinks.parsing import lock_commands
from acclock.world.sinks.sink import Sink, state_after
from acclock.world.sources import Source
from acclock.world.watchdog import Watchdog

LONGEST_SESSION_S = 12 * 3600.0
"""After which another factor is asked for again, as NIST SP 800-63B has it (AAL2)."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Post:
    """Whom to watch over by what, and who hears of it."""

    ward: Ward
    source: Source
    policy: Policy = BALANCED
    sinks: Sequence[Sink] = ()
    hearers: Sequence[Hearer] = ()
    """Who else is told, in this process."""
    home: Path
    """Where the keys are that sign grants and assertions."""
    socket: Path
    """Where programs of this machine bring grants and ask how it stands."""
    report: Callable[[str], None]
    """Hears one sentence for each thing that an output did not take."""

    async def keep(
        self, *, for_s: float = inf, on_ready: Callable[[Monitor], None] = lambda _: None
    ) -> signal.Signals | None:
        """Watch until the source ends, for a time, or until a signal, which is given back.

        Everything is locked when this returns or raises. The watchdog says goodbye only to a
        monitor that ends in good order: it locks once more, by its own hand, after any other.
        """
        with Watchdog(lock_commands(self.sinks)) as dog:
            async with Outbox(self.sinks, report=self.report) as outbox, AsyncExitStack() as stack:
                board = Assertions(signing_key(self.home, "assertions"))
                herald = Herald(
                    [outbox, _Board(board), *self.hearers],
                    person=self.ward.name,
                    device=self.source.name,
                )
                monitor = Monitor(self.ward, self.source, herald, policy=self.policy)
                door = LocalSocket(
                    self.socket, {"state": board.answer, "grant": self._open_book(monitor)}
                )
                await door.open()
                stack.push_async_callback(door.close)
                on_ready(monitor)
                with _stopping(monitor) as caught:
                    await monitor.run(for_s=for_s, beat=dog.beat)
        return caught[0] if caught else None

    def _open_book(self, monitor: Monitor) -> Callable[[dict[str, Any]], dict[str, Any]]:
        """Give who answers those that bring a grant.

        A grant says until when it may open a session; how long that may then last without another
        factor is the monitor's to say.
        """
        book = GrantBook(self.ward.name, key=signing_key(self.home, "grants"))

        def take(leave: Grant) -> None:
            monitor.grant(replace(leave, expires_s=self.source.now_s() + LONGEST_SESSION_S))

        return book.answers(take, now_s=self.source.now_s)


class _Board:
    """Keeps the assertions up to date."""

    def __init__(self, assertions: Assertions) -> None:
        self._assertions = assertions

    def tell(self, event: Event) -> None:
        self._assertions.hear(event.status, state_after(event))

    def refresh(self, status: Status) -> None:
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
