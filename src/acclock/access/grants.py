"""Another factor's word that a session may open: signed, short-lived, good for once."""

import os
from collections.abc import Awaitable, Callable
from typing import Any

from joserfc.jwk import Key

from acclock.access.signed_tokens import GRANT, ValidityPeriod, read_token, sign_token
from acclock.errors import ConfigError, GrantError
from acclock.live.grants import Grant
from acclock.system.boot_clock import now_ms
from acclock.vault.names import folded

__all__ = ["Grant", "GrantRegister", "issue_grant"]

_AUDIENCE = "acclock-monitor"


def issue_grant(person: str, *, duration_s: float, key: Key) -> str:
    """Give a signed grant. Whoever calls this has convinced themselves who the person is."""
    if not 0 < duration_s <= GRANT.longest_ms / 1000:
        longest_s = GRANT.longest_ms / 1000
        raise ConfigError(f"a grant lasts up to {longest_s:g} s, not {duration_s:g} s")
    start_ms = now_ms()
    claims = {"aud": _AUDIENCE, "sub": person, "jti": os.urandom(16).hex()}
    span = ValidityPeriod(from_ms=start_ms, until_ms=start_ms + round(duration_s * 1000))
    return sign_token(GRANT, claims, span, key)


class GrantRegister:
    """Takes each grant for one person once; names are compared as the vault compares them.

    What was signed before the book was opened is refused: a monitor that is started again does
    not know which of those were used.
    """

    def __init__(self, person: str, *, key: Key) -> None:
        self._person, self._key = person, key
        self._opened_ms = now_ms()
        self._used: dict[str, int] = {}

    def redeem(self, token: str, *, now_s: float) -> Grant:
        """Give what a grant allows from ``now_s`` on, or say why it allows nothing."""
        at_ms = now_ms()
        claims = read_token(GRANT, token, self._key, at_ms=at_ms)
        if claims.get("aud") != _AUDIENCE:
            raise GrantError("the grant is meant for another program")
        if folded(str(claims.get("sub"))) != folded(self._person):
            raise GrantError(f"the grant is for somebody else than {self._person}")
        self._use_up(claims, at_ms)
        left_s = (claims["until_ms"] - at_ms) / 1000
        return Grant(person=self._person, expires_s=now_s + left_s)

    def answers(
        self, take: Callable[[Grant], Awaitable[None]], *, now_s: Callable[[], float]
    ) -> Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]:
        """Give a handler for :class:`~acclock.access.local_socket.LocalSocket`: "grant"."""

        async def answer(request: dict[str, Any]) -> dict[str, Any]:
            await take(self.redeem(str(request.get("grant")), now_s=now_s()))
            return {"granted": self._person}

        return answer

    def _use_up(self, claims: dict[str, Any], at_ms: int) -> None:
        number = claims.get("jti")
        if not isinstance(number, str) or claims["from_ms"] < self._opened_ms:
            raise GrantError("the grant was signed before this monitor started; ask for a new one")
        if number in self._used:
            raise GrantError("the grant was used already; ask for a new one")
        self._used = {jti: end for jti, end in self._used.items() if end > at_ms}
        self._used[number] = claims["until_ms"]
