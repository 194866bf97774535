import asyncio
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest

from acclock.live.events import Kind, SessionEvent, SessionStatus

AT = datetime(2025, 3, 1, 9, 30, 15, 250_000, tzinfo=UTC)


class News:
    """Events of one session of anna's, numbered in the order in which they are asked for."""

    def __init__(self) -> None:
        self.numbers = count(1)

    def status(self, **changes: object) -> SessionStatus:
        facts: dict[str, object] = {"session": "s1", "person": "anna", "device": "buds", "at": AT}
        return SessionStatus(**(facts | changes))  # type: ignore[arg-type]

    def __call__(self, kind: Kind, **changes: object) -> SessionEvent:
        state = "unlocked" if kind in ("unlocked", "confidence") else "locked"
        status = self.status(**{"state": state, **changes})
        return SessionEvent(kind=kind, number=next(self.numbers), status=status)


@pytest.fixture
def news() -> News:
    return News()


@pytest.fixture(scope="session")
def new_session() -> type[News]:
    """For tests that need many: whoever calls it gets a session that begins."""
    return News


async def _soon(true: Callable[[], object], *, patience_s: float = 10.0) -> None:
    deadline = time.monotonic() + patience_s
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.01)


@pytest.fixture
def soon() -> Callable[..., Coroutine[None, None, None]]:
    """Wait until something is true, and fail when it does not become so."""
    return _soon


def _kill_task(name: str, error: Exception | None) -> None:
    (task,) = (
        one
        for one in asyncio.all_tasks()
        if one.get_name().startswith(name) and not one.get_name().endswith("supervisor")
    )
    if error is None:
        task.cancel()
    else:
        waits_for: asyncio.Future[Any] = task._fut_waiter  # type: ignore[attr-defined]
        waits_for.set_exception(error)


@pytest.fixture
def kill_task() -> Callable[[str, Exception | None], None]:
    """End a task by its name: by letting what it waits for fail, or by cancelling it."""
    return _kill_task
