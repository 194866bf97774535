"""A lock that an output has not taken: it is told again until it is taken, or no longer true."""

from dataclasses import dataclass
from math import inf

from acclock.session.events import Event
from acclock.world.sinks.retry import Retry
from acclock.world.sinks.sink import SHUTTING, state_after

_RETRY = Retry(first_s=0.5, longest_s=30.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Debt:
    """What one output still has to be told."""

    event: Event | None = None
    failures: int = 0
    due_s: float = inf
    """When to tell it once more, on the clock of the event loop."""


def settle(debt: Debt, event: Event, *, failed: bool, now_s: float) -> Debt:
    """Give what is owed after an output has taken an event, or failed to.

    A lock that failed is owed. A lock that was taken, or news of an open session, ends the debt;
    other news changes nothing.
    """
    if event.kind not in SHUTTING:
        return Debt() if state_after(event) == "unlocked" else debt
    if not failed:
        return Debt()
    failures = debt.failures + 1
    return Debt(event=event, failures=failures, due_s=now_s + _RETRY.wait_s(failures, draw=1.0))
