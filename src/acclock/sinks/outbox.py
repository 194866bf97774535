"""Where a session's news leaves for all outputs, none of which can hold up another."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from types import TracebackType
from typing import Self

from acclock.errors import ConfigError
from acclock.live.events import SessionEvent, SessionStatus
from acclock.sinks.sink import Sink
from acclock.sinks.worker import DeliveryCounts, SinkWorker
from acclock.system.supervision import Retry, Supervisor

_LOCKING_S = 3.0
"""How much longer than others an output is waited for that is about to lock something."""

_RESTART = Retry(first_s=0.05, longest_s=30.0)
"""An output whose task has ended cannot be told to lock before it runs again."""


def _say_nothing(trouble: str) -> None:
    pass


def _lock_nothing() -> None:
    pass


class Outbox:
    """Tells every output, at once and without waiting; use it with ``async with``.

    ``report`` hears one sentence for each thing that an output did not take. An output that raises,
    hangs or swallows its cancellation delays neither the caller nor another output. ``lock`` locks
    the session: it is called when the task of an output ends, which is then started again.
    """

    def __init__(
        self,
        sinks: Iterable[Sink],
        *,
        patience_s: float = 10.0,
        parting_s: float = 3.0,
        longest: int = 256,
        report: Callable[[str], None] = _say_nothing,
        lock: Callable[[], None] = _lock_nothing,
    ) -> None:
        if not patience_s > 0 or longest < 1:
            raise ConfigError("an outbox has some patience and room for an event at least")
        self._workers = [
            SinkWorker(sink, patience_s=patience_s, longest=longest, report=report)
            for sink in sinks
        ]
        self._tasks: list[asyncio.Task[None]] = []
        self._parting_s, self._report, self._lock = parting_s, report, lock

    @property
    def tallies(self) -> Mapping[str, DeliveryCounts]:
        """What became of everything, by the name of the output."""
        return {worker.sink.name: worker.tally for worker in self._workers}

    @property
    def left_open(self) -> tuple[str, ...]:
        """The outputs whose lock command has yet to succeed."""
        return tuple(
            worker.sink.name
            for worker in self._workers
            if _locks(worker.sink) and worker.owes_a_lock
        )

    def notify(self, event: SessionEvent) -> None:
        """Queue an event for every output."""
        for worker in self._workers:
            worker.notify(event)

    def refresh(self, status: SessionStatus) -> None:
        """Queue how the session stands for every output."""
        for worker in self._workers:
            worker.refresh(status)

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(self._supervise(worker).run()) for worker in self._workers
        ]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let every output hear what is queued, then close it; wait a little for each."""
        await _wait_for(self._parting_s, [worker.drained() for worker in self._workers])
        await _wait_for(
            _LOCKING_S, [worker.settled() for worker in self._workers if _locks(worker.sink)]
        )
        for task in self._tasks:
            task.cancel()
        await _wait_for(self._parting_s, [self._shut(worker) for worker in self._workers])

    def _supervise(self, worker: SinkWorker) -> Supervisor:
        def lock() -> None:
            worker.owe()
            self._lock()

        return Supervisor(
            name=f"output {worker.sink.name}",
            work=worker.run,
            lock=lock,
            report=lambda _, said: self._report(said),
            retry=_RESTART,
        )

    async def _shut(self, worker: SinkWorker) -> None:
        try:
            await worker.sink.close()
        except Exception as error:  # noqa: BLE001 - the others must be closed too
            self._report(f"{worker.sink.name}: {error}")
        else:
            worker.clear()  # an output that could be closed has left the world locked


def _locks(sink: Sink) -> bool:
    """Tell whether an output locks something that somebody else could lock in its place."""
    return bool(getattr(sink, "lock_command", ()))


async def _wait_for(patience_s: float, parts: list[Coroutine[None, None, None]]) -> None:
    tasks = [asyncio.create_task(part) for part in parts]
    if tasks:
        _, late = await asyncio.wait(tasks, timeout=patience_s)
        for task in late:
            task.cancel()
