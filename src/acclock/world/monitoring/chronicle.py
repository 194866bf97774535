"""What a session told, kept in order: for a timeline, and for who asks afterwards."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from acclock.session.events import Event, State, Status
from acclock.session.policies import Policy
from acclock.world.monitoring.herald import Herald, utc_now
from acclock.world.monitoring.monitor import Monitor
from acclock.world.monitoring.ward import Ward
from acclock.world.sinks.sink import state_after
from acclock.world.sources import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """How it stood at one time, and the event that was told then, if any."""

    at_s: float
    """Since the beginning of the chronicle."""
    state: State
    status: Status
    event: Event | None = None


class Chronicle:
    """Hears everything a monitor tells and forgets nothing: it grows, so it is for short runs."""

    def __init__(self, begin: datetime) -> None:
        self._begin = begin
        self.moments: list[Moment] = []

    def tell(self, event: Event) -> None:
        self._keep(event.status, state_after(event), event)

    def refresh(self, status: Status) -> None:
        self._keep(status, status.state)

    @property
    def events(self) -> list[Moment]:
        """The moments at which something changed."""
        return [moment for moment in self.moments if moment.event is not None]

    def changes(self) -> list[Moment]:
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

    def _keep(self, status: Status, state: State, event: Event | None = None) -> None:
        at_s = (status.at - self._begin).total_seconds()
        self.moments.append(Moment(at_s=at_s, state=state, status=status, event=event))


async def write_chronicle(
    ward: Ward,
    source: Source,
    *,
    policy: Policy,
    on_ready: Callable[[Monitor, Chronicle], None] = lambda *_: None,
) -> Chronicle:
    """Watch over somebody until the source ends, and give all that was told.

    Times are the source's own: those of real life, however fast it was played.
    """
    begin, begin_s = utc_now(), source.now_s()
    chronicle = Chronicle(begin)
    herald = Herald(
        [chronicle],
        person=ward.name,
        device=source.name,
        clock=lambda: begin + timedelta(seconds=source.now_s() - begin_s),
    )
    monitor = Monitor(ward, source, herald, policy=policy)
    on_ready(monitor, chronicle)
    await monitor.run()
    return chronicle
