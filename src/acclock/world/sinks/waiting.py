"""What one output has yet to be told: events in order, and the newest refresh."""

from collections import deque

from acclock.session.events import Event, Status
from acclock.world.sinks.sink import state_after


class Waiting:
    """Room for so many events. A lock discards news of an open session; so does want of room."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._events: deque[Event] = deque()
        self._status: Status | None = None

    @property
    def locks(self) -> bool:
        """Whether a lock waits."""
        return any(state_after(event) == "locked" for event in self._events)

    def add(self, event: Event) -> dict[str, int]:
        """Take an event; give how many things it overtook, and how many were dropped for it."""
        overtaken = self._overtake() if state_after(event) == "locked" else 0
        dropped = int(len(self._events) >= self._longest)
        if dropped:
            open_ones = (one for one in self._events if state_after(one) == "unlocked")
            self._events.remove(next(open_ones, self._events[0]))
        self._events.append(event)
        return {"overtaken": overtaken, "dropped": dropped}

    def replace(self, status: Status) -> bool:
        """Take a refresh in place of one that still waits; tell whether one did."""
        replaced, self._status = self._status is not None, status
        return replaced

    def take_event(self) -> Event | None:
        return self._events.popleft() if self._events else None

    def take_status(self) -> Status | None:
        status, self._status = self._status, None
        return status

    def clear(self) -> None:
        self._events.clear()
        self._status = None

    def _overtake(self) -> int:
        kept = [event for event in self._events if state_after(event) == "locked"]
        gone = len(self._events) - len(kept) + int(self._status is not None)
        self._events, self._status = deque(kept), None
        return gone
