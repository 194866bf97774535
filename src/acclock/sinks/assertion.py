"""The session's state, signed and expiring, for programs on this machine that rely on it."""

from pathlib import Path
from typing import Any

from joserfc.jwk import Key

from acclock.access.local_socket import LocalSocket
from acclock.access.signed_tokens import ASSERTION, ValidityPeriod, sign_token
from acclock.errors import GrantError
from acclock.live.events import SessionEvent, SessionStatus, State
from acclock.sinks.sink import printable, state_after
from acclock.system.boot_clock import now_ms

_LONGEST_WORD = 128


class Assertions:
    """Answers «is the session open?» from the last decision, while that is fresh.

    It counts from the decision and not from the question: a monitor that decides no more says
    "locked" a second later, however often it is asked.
    """

    def __init__(self, key: Key) -> None:
        self._key = key
        self._state: State = "locked"
        self._status: SessionStatus | None = None
        self._received_ms = 0

    def hear(self, status: SessionStatus, state: State) -> None:
        """Take in a decision, now."""
        self._status, self._state, self._received_ms = status, state, now_ms()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Give the signed state, for this question alone."""
        nonce, audience = request.get("nonce"), request.get("audience")
        if not _is_word(nonce) or not _is_word(audience):
            raise GrantError("a question needs a nonce and an audience")
        if self._status is None:
            raise GrantError("nothing was decided yet")
        asked_ms = now_ms()
        until_ms = self._received_ms + ASSERTION.longest_ms
        fresh = asked_ms < until_ms
        claims = {
            "iss": "acclock",
            "aud": audience,
            "nonce": nonce,
            "sub": self._status.person,
            "sid": self._status.session,
            "state": self._state if fresh else "locked",
            "reason": printable(self._status.reason) if fresh else "the last decision is too old",
        }
        span = ValidityPeriod(
            from_ms=asked_ms, until_ms=until_ms if fresh else asked_ms + ASSERTION.longest_ms
        )
        return {"assertion": sign_token(ASSERTION, claims, span, self._key)}


class AssertionSink:
    """Keeps :class:`Assertions` up to date and answers on a socket of its own."""

    def __init__(self, path: Path, key: Key) -> None:
        self.name = f"assert:{path}"
        self._assertions = Assertions(key)
        self._socket = LocalSocket(path, {"state": self._assertions.answer})
        self._open = False

    async def notify(self, event: SessionEvent) -> None:
        self._assertions.hear(event.status, state_after(event))
        await self._listen()

    async def refresh(self, status: SessionStatus) -> None:
        self._assertions.hear(status, status.state)
        await self._listen()

    async def close(self) -> None:
        await self._socket.close()

    async def _listen(self) -> None:
        if not self._open:
            await self._socket.open()
            self._open = True


def _is_word(said: object) -> bool:
    return isinstance(said, str) and 0 < len(said) <= _LONGEST_WORD
