"""Where standings become news: numbered events, and how it stands in between."""

import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol

from acclock.live.events import Kind, SessionEvent, SessionStatus
from acclock.live.session_state import SessionState, name_changes

_REFRESHED_S = 0.25
"""How often those who listen hear how it stands: an assertion lives for a second."""


class Listener(Protocol):
    """Who is told, at once: whatever takes time is not done here."""

    def notify(self, event: SessionEvent) -> None: ...

    def refresh(self, status: SessionStatus) -> None: ...


def utc_now() -> datetime:
    """Read the clock on the wall."""
    return datetime.now(UTC)


class EventPublisher:
    """Tells everybody what changed in one run of the monitor. After «stopped» it is silent."""

    def __init__(
        self,
        listeners: Sequence[Listener],
        *,
        person: str,
        device: str,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._listeners = tuple(listeners)
        self._session, self._person, self._device = secrets.token_hex(8), person, device
        self._clock = clock
        self._number = 0
        self._before: SessionState | None = None
        self._refreshed_s = float("-inf")
        self._over = False

    def start(self, session_state: SessionState) -> None:
        """Say that there is a session now."""
        self._before = session_state
        self.notify("started", session_state)

    def hear(self, session_state: SessionState) -> None:
        """Take how the session stands after a decision, and tell what that changed."""
        if self._over or self._before is None:
            return
        kinds = name_changes(self._before, session_state)
        self._before = session_state
        for kind in kinds:
            self.notify(kind, session_state)
        if kinds or session_state.at_s - self._refreshed_s >= _REFRESHED_S:
            self._refreshed_s = session_state.at_s
            status = self._describe(session_state)
            for listener in self._listeners:
                listener.refresh(status)

    def notify(self, kind: Kind, session_state: SessionState) -> None:
        """Tell an event, with how the session stands."""
        self._send(kind, self._describe(session_state))

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

    def _send(self, kind: Kind, status: SessionStatus, *, note: str = "") -> None:
        self._number += 1
        event = SessionEvent(kind=kind, number=self._number, status=status, note=note)
        for listener in self._listeners:
            listener.notify(event)

    def _describe(
        self, session_state: SessionState, *, locked_because: str | None = None
    ) -> SessionStatus:
        ended = locked_because is not None
        return SessionStatus(
            session=self._session,
            person=self._person,
            device=self._device,
            at=self._clock(),
            state="locked" if ended else session_state.state,
            decision="no_signal" if ended else session_state.decision,
            reason=locked_because or session_state.reason.sentence,
            confidence="low" if ended else session_state.confidence,
            heart_rate_bpm=None if ended else session_state.answer.heart_rate_bpm,
            clarity=0.0 if ended else session_state.answer.clarity,
        )
