"""Background tasks that must not end, and how long to wait before something is tried again."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from acclock.errors import AccLockError, ConfigError, TaskFailedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Waits that double, up to a longest one.

    >>> [Retry(first_s=1.0, longest_s=5.0).wait_s(failures, draw=1.0) for failures in (1, 2, 3, 4)]
    [1.0, 2.0, 4.0, 5.0]
    """

    first_s: float = 0.5
    longest_s: float = 60.0

    def __post_init__(self) -> None:
        if not 0 < self.first_s <= self.longest_s:
            raise ConfigError("retries wait for a while, at first not longer than in the end")

    def wait_s(self, failures: int, draw: float) -> float:
        """Give the wait after so many failures; ``draw``, from 0 to 1, spreads the crowd."""
        doubled = self.first_s * 2.0 ** min(failures - 1, 30)
        return min(self.longest_s, doubled) * (0.5 + draw / 2)


_RETRY = Retry(first_s=0.5, longest_s=30.0)
HEALTHY_S = 30.0
"""A task that ran for so long has recovered: its next failure counts as the first."""
_RELOCK_S = 0.5
"""How often everything is locked again while a task does not run: a heartbeat may open sessions."""
_PARTING_S = 5.0
"""How long a task that is cancelled may take to end."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisor:
    """Runs one background task, and starts it again whenever it ends.

    However it ends, by an error, by returning or by being cancelled, ``lock`` is called before
    anything else, and again every half second until the task is started again. It is not started
    again before ``lock`` has succeeded.
    """

    name: str
    work: Callable[[], Coroutine[Any, Any, None]]
    lock: Callable[[], None]
    """Locks everything that depends on the task."""
    report: Callable[[str, str], None]
    """Is told the task's name and a sentence each time that it ends."""
    final: tuple[type[Exception], ...] = ()
    """Errors that are the task's answer and not its failure: raised to whoever supervises."""
    may_return: bool = False
    """Whether returning is the end that the task is meant to have."""
    retry: Retry = _RETRY
    most_failures: int | None = None
    """After so many in a row it is given up; never by default."""

    async def run(self) -> None:
        """Go on until cancelled, until it may return, or given up (:class:`TaskFailedError`)."""
        loop, failures = asyncio.get_running_loop(), 0
        while True:
            began_s = loop.time()
            error = await self._run_once()
            if error is None and self.may_return:
                return
            locked = self._lock()
            if isinstance(error, self.final):
                raise error
            failures = 1 if loop.time() - began_s >= HEALTHY_S else failures + 1
            if self.most_failures is not None and failures >= self.most_failures:
                raise TaskFailedError(self.name, failures, _describe(error)) from error
            wait_s = self.retry.wait_s(failures, draw=1.0)
            self._report(error, wait_s)
            await self._stay_locked(wait_s, locked=locked)

    async def _run_once(self) -> BaseException | None:
        """Give what ended the task; nothing when it returned."""
        task = asyncio.create_task(self.work(), name=self.name)
        try:
            await asyncio.wait({task})
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=_PARTING_S)
        return asyncio.CancelledError() if task.cancelled() else task.exception()

    async def _stay_locked(self, wait_s: float, *, locked: bool) -> None:
        loop = asyncio.get_running_loop()
        end_s = loop.time() + wait_s
        while not locked or loop.time() < end_s:
            left_s = end_s - loop.time()
            await asyncio.sleep(min(left_s, _RELOCK_S) if left_s > 0 else _RELOCK_S)
            locked = self._lock()

    def _lock(self) -> bool:
        try:
            self.lock()
        except Exception:  # noqa: BLE001 - it is tried again until it succeeds
            _log.exception("what depends on the task %s cannot be locked", self.name)
            return False
        return True

    def _report(self, error: BaseException | None, wait_s: float) -> None:
        said = (
            f"the task {self.name} {_describe(error)}; what depends on it is locked, "
            f"and it is started again in {wait_s:g} s"
        )
        unexpected = error is not None and not isinstance(error, AccLockError)
        _log.error("%s", said, exc_info=error if unexpected else None)
        try:
            self.report(self.name, said)
        except Exception:  # noqa: BLE001 - who cannot be told must not keep it from running
            _log.exception("that the task %s ended cannot be reported", self.name)


@asynccontextmanager
async def supervising(*supervisors: Supervisor) -> AsyncIterator[None]:
    """Run tasks for as long as this lasts."""
    tasks = [asyncio.create_task(one.run(), name=f"{one.name} supervisor") for one in supervisors]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _describe(error: BaseException | None) -> str:
    """Say how a task ended; what an unexpected error holds may be nobody's business."""
    match error:
        case None:
            return "returned"
        case asyncio.CancelledError():
            return "was cancelled"
        case AccLockError():
            return f"failed: {error}"
        case _:
            return f"met an unexpected {type(error).__name__}"
