"""Where standings become news: numbered events, and how it stands in between."""

import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol

from acclock.session.events import Event, Kind, Status
from acclock.session.standing import Standing, name_changes

_REFRESHED_S = 0.25
"""How often those who listen hear how it stands: an assertion lives for a second."""


class Hearer(Protocol):
    """Who is told, at once: whatever takes time is not done here."""

    def tell(self, event: Event) -> None: ...

    def refresh(self, status: Status) -> None: ...


def utc_now() -> datetime:
    """Read the clock on the wall."""
    return datetime.now(UTC)


class Herald:
    """Tells everybody what changed in one run of the monitor. After «stopped» it is silent."""

    def __init__(
        self,
        hearers: Sequence[Hearer],
        *,
        person: str,
        device: str,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._hearers = tuple(hearers)
        self._session, self._person, self._device = secrets.token_hex(8), person, device
        self._clock = clock
        self._number = 0
        self._before: Standing | None = None
        self._refreshed_s = float("-inf")
        self._over = False

    def start(self, standing: Standing) -> None:
        """Say that there is a session now."""
        self._before = standing
        self.tell("started", standing)

    def hear(self, standing: Standing) -> None:
        """Take how the session stands after a decision, and tell what that changed."""
        if self._over or self._before is None:
            return
        kinds = name_changes(self._before, standing)
        self._before = standing
        for kind in kinds:
            self.tell(kind, standing)
        if kinds or standing.at_s - self._refreshed_s >= _REFRESHED_S:
            self._refreshed_s = standing.at_s
            status = self._describe(standing)
            for hearer in self._hearers:
                hearer.refresh(status)

    def tell(self, kind: Kind, standing: Standing) -> None:
        """Tell an event, with how the session stands."""
        self._send(kind, self._describe(standing))

    def complain(self, trouble: str) -> None:
        """Tell what an output did not take; a lock that failed must not go unseen."""
        if not self._over and self._before is not None:
            self._send("trouble", self._describe(self._before), note=trouble)

    def stop(self, reason: str) -> None:
        """Say that nothing comes any more, whatever was said before: locked first of all."""
        if self._over or self._before is None:
            return
        status = self._describe(self._before, locked_because=reason)
        if self._before.unlocked:
            self._send("locked", status)
        self._send("stopped", status)
        self._over = True

    def _send(self, kind: Kind, status: Status, *, note: str = "") -> None:
        self._number += 1
        event = Event(kind=kind, number=self._number, status=status, note=note)
        for hearer in self._hearers:
            hearer.tell(event)

    def _describe(self, standing: Standing, *, locked_because: str | None = None) -> Status:
        ended = locked_because is not None
        return Status(
            session=self._session,
            person=self._person,
            device=self._device,
            at=self._clock(),
            state="locked" if ended else standing.state,
            decision="no_signal" if ended else standing.decision,
            reason=locked_because or standing.reason.sentence,
            confidence="low" if ended else standing.confidence,
            heart_rate_bpm=None if ended else standing.answer.heart_rate_bpm,
            clarity=0.0 if ended else standing.answer.clarity,
        )
