"""What every output is, and the plain values that it is sent."""

import asyncio
import json
import math
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from acclock.live.events import SessionEvent, SessionStatus, State

SHUTTING = frozenset({"locked", "lockout", "stopped"})
"""The kinds of event after which nothing may be open, whatever else the event says."""


class Sink(Protocol):
    """An output. It may fail or hang: the :class:`~acclock.sinks.outbox.Outbox` copes."""

    @property
    def name(self) -> str:
        """What the user is shown when there is trouble with it; it holds no secret."""

    async def notify(self, event: SessionEvent) -> None:
        """Hear that something changed."""

    async def refresh(self, status: SessionStatus) -> None:
        """Hear how the session stands, at every decision; most outputs need not care."""

    async def close(self) -> None:
        """Leave the world locked, and let go of everything."""


def state_after(event: SessionEvent) -> State:
    """Give the state that an event leaves behind; in doubt it is locked."""
    return "locked" if event.kind in SHUTTING else event.status.state


_LONGEST = 200


def printable(text: str) -> str:
    r"""Give a text without control characters and not too long, whoever wrote it.

    >>> printable("anna\x1b[2J\n")
    'anna�[2J�'
    """
    return "".join(c if c.isprintable() else "�" for c in text[:_LONGEST])


def status_facts(status: SessionStatus) -> dict[str, object]:
    """Give how a session stands, as values that JSON knows."""
    rate = status.heart_rate_bpm
    return {
        "session": printable(status.session),
        "person": printable(status.person),
        "device": printable(status.device),
        "at": status.at.isoformat(timespec="milliseconds"),
        "state": status.state,
        "decision": status.decision,
        "reason": printable(status.reason),
        "confidence": status.confidence,
        "heart_rate_bpm": round(rate, 1) if rate is not None and math.isfinite(rate) else None,
        "clarity": round(status.clarity, 3) if math.isfinite(status.clarity) else 0.0,
    }


def event_facts(event: SessionEvent) -> dict[str, object]:
    """Give an event, as values that JSON knows."""
    note = {"note": printable(event.note)} if event.note else {}
    return {"event": event.kind, "number": event.number} | status_facts(event.status) | note


def as_json(facts: dict[str, object]) -> str:
    """Give facts as one line of plain ASCII."""
    return json.dumps(facts, allow_nan=False, separators=(",", ":"))


Result = TypeVar("Result")


async def call_aside(function: Callable[[], Result]) -> Result:
    """Give the result of a blocking call, made in a thread that nobody waits for at the end.

    A pool's threads are waited for at exit, and a full pipe or a lost disk can block one for ever.
    """
    answer: Future[Result] = Future()
    answer.set_running_or_notify_cancel()  # a caller that gives up does not disturb the thread

    def work() -> None:
        try:
            answer.set_result(function())
        except Exception as error:  # noqa: BLE001 - handed to whoever asked
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return await asyncio.wrap_future(answer)
