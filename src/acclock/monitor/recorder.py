"""What a session told, kept in order: for a timeline, and for who asks afterwards."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from acclock.live.events import SessionEvent, SessionStatus, State
from acclock.live.policies import Policy
from acclock.monitor.enrolled_user import EnrolledUser
from acclock.monitor.monitor import Monitor
from acclock.monitor.publisher import EventPublisher, utc_now
from acclock.sinks.sink import state_after
from acclock.sources import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedMoment:
    """How it stood at one time, and the event that was told then, if any."""

    at_s: float
    """Since the beginning of the chronicle."""
    state: State
    status: SessionStatus
    event: SessionEvent | None = None


class EventRecorder:
    """Hears everything a monitor tells and forgets nothing: it grows, so it is for short runs."""

    def __init__(self, begin: datetime) -> None:
        self._begin = begin
        self.moments: list[RecordedMoment] = []

    def notify(self, event: SessionEvent) -> None:
        self._keep(event.status, state_after(event), event)

    def refresh(self, status: SessionStatus) -> None:
        self._keep(status, status.state)

    @property
    def events(self) -> list[RecordedMoment]:
        """The moments at which something changed."""
        return [moment for moment in self.moments if moment.event is not None]

    def changes(self) -> list[RecordedMoment]:
        """Give the moments at which the session was opened or locked."""
        return [
            moment
            for moment in self.moments
            if moment.event is not None and moment.event.kind in ("unlocked", "locked")
        ]

    def open_s(self, start_s: float, end_s: float) -> float:
        """Give for how long the session was open between two times."""
        total_s, open_since_s = 0.0, None
        for moment in self.changes():
            if moment.state == "unlocked":
                open_since_s = moment.at_s
            elif open_since_s is not None:
                total_s += max(0.0, min(end_s, moment.at_s) - max(start_s, open_since_s))
                open_since_s = None
        if open_since_s is not None:
            total_s += max(0.0, end_s - max(start_s, open_since_s))
        return total_s

    def _keep(self, status: SessionStatus, state: State, event: SessionEvent | None = None) -> None:
        at_s = (status.at - self._begin).total_seconds()
        self.moments.append(RecordedMoment(at_s=at_s, state=state, status=status, event=event))


async def record_events(
    user: EnrolledUser,
    source: Source,
    *,
    policy: Policy,
    on_ready: Callable[[Monitor, EventRecorder], None] = lambda *_: None,
) -> EventRecorder:
    """Watch over somebody until the source ends, and give all that was told.

    Times are the source's own: those of real life, however fast it was played.
    """
    begin, begin_s = utc_now(), source.now_s()
    recorder = EventRecorder(begin)
    publisher = EventPublisher(
        [recorder],
        person=user.name,
        device=source.name,
        clock=lambda: begin + timedelta(seconds=source.now_s() - begin_s),
    )
    monitor = Monitor(user, source, publisher, policy=policy)
    on_ready(monitor, recorder)
    await monitor.run()
    return recorder
