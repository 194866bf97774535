"""The desktop's own lock: logind, over D-Bus."""

import os

from dbus_fast import BusType, DBusError, Message, MessageType
from dbus_fast.aio import MessageBus
from dbus_fast.errors import AuthError, InvalidAddressError

from acclock.errors import SinkError
from acclock.live.events import SessionEvent, SessionStatus, State
from acclock.sinks.sink import state_after

_MANAGER = "org.freedesktop.login1"


class Logind:
    """Locks the session of this user, or everybody's, when the heartbeat session locks.

    It never unlocks: a screen is opened by its own lock, which may ask AccLock (docs/events.md).
    """

    def __init__(self, *, everybody: bool = False, address: str | None = None) -> None:
        self.name = "logind:all" if everybody else "logind"
        self._everybody, self._address = everybody, address
        self._session = os.environ.get("XDG_SESSION_ID", "auto")
        self._state: State = "locked"

    @property
    def lock_command(self) -> tuple[str, ...]:
        """The same as a command, for the watchdog."""
        if self._everybody:
            return ("loginctl", "lock-sessions")
        named = () if self._session == "auto" else (self._session,)
        return ("loginctl", "lock-session", *named)

    async def notify(self, event: SessionEvent) -> None:
        state = state_after(event)
        if event.kind == "trouble":  # which may be its own
            return
        if state == "locked" and self._state == "unlocked":
            await self._lock()
        self._state = state

    async def refresh(self, status: SessionStatus) -> None:
        pass

    async def close(self) -> None:
        if self._state == "unlocked":
            await self._lock()

    async def _lock(self) -> None:
        try:
            bus = await MessageBus(bus_address=self._address, bus_type=BusType.SYSTEM).connect()
        except (OSError, AuthError, InvalidAddressError, DBusError) as error:
            raise SinkError(f"the system bus cannot be reached: {error}") from error
        try:
            answer = await bus.call(self._message())
        finally:
            bus.disconnect()
        if answer.message_type is MessageType.ERROR:
            said = answer.body[0] if answer.body else answer.error_name
            raise SinkError(f"logind did not lock the session: {said}")

    def _message(self) -> Message:
        member, signature, body = (
            ("LockSessions", "", []) if self._everybody else ("LockSession", "s", [self._session])
        )
        return Message(
            destination=_MANAGER,
            path="/org/freedesktop/login1",
            interface=f"{_MANAGER}.Manager",
            member=member,
            signature=signature,
            body=body,
        )
