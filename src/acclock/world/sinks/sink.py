"""What every output is: told of each event, refreshed at each decision, closed at the end."""

from typing import Protocol

from acclock.session.events import Event, State, Status

SHUTTING = frozenset({"locked", "lockout", "stopped"})
"""The kinds of event after which nothing may be open, whatever else the event says."""


class Sink(Protocol):
    """An output. It may fail or hang: the :class:`~acclock.world.sinks.outbox.Outbox` copes."""

    @property
    def name(self) -> str:
        """What the user is shown when there is trouble with it; it holds no secret."""

    async def tell(self, event: Event) -> None:
        """Hear that something changed."""

    async def refresh(self, status: Status) -> None:
        """Hear how the session stands, at every decision; most outputs need not care."""

    async def close(self) -> None:
        """Leave the world locked, and let go of everything."""


def state_after(event: Event) -> State:
    """Give the state that an event leaves behind; in doubt it is locked."""
    return "locked" if event.kind in SHUTTING else event.status.state
