"""Signed statements that live for a moment of the boot clock: grants and assertions."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import Key, KeySet

from acclock.access.local_client import request
from acclock.access.signing_keys import ALGORITHMS, algorithm
from acclock.errors import GrantError
from acclock.system.boot_clock import now_ms, this_boot
from acclock.vault.names import folded


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenKind:
    """A kind of pass. Its name is in the signed header: none is mistaken for another."""

    type: str
    longest_ms: int


ASSERTION = TokenKind(type="acclock-assertion+jwt", longest_ms=1_000)
GRANT = TokenKind(type="acclock-grant+jwt", longest_ms=600_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidityPeriod:
    """From when to when something holds, on the boot clock."""

    from_ms: int
    until_ms: int
    boot: str = field(default_factory=this_boot)


def sign_token(kind: TokenKind, claims: dict[str, Any], span: ValidityPeriod, key: Key) -> str:
    """Give signed claims that hold for a span of the boot clock.

    ``exp`` says the same on the wall clock, for other people's libraries; nothing here reads it.
    """
    header = {"alg": algorithm(key), "typ": kind.type, "kid": key.kid}
    held = {"boot": span.boot, "from_ms": span.from_ms, "until_ms": span.until_ms}
    wall = {"iat": int(time()), "exp": round(time() + (span.until_ms - now_ms()) / 1000, 3)}
    return jwt.encode(header, claims | held | wall, key, algorithms=[algorithm(key)])


def read_token(
    kind: TokenKind, token: str, key: Key | KeySet, *, at_ms: int | None = None
) -> dict[str, Any]:
    """Give the claims of a pass that is signed, of this kind, of this boot and not over.

    The wall clock has no say, so setting it back prolongs nothing.
    """
    try:
        signed = jwt.decode(token, key, algorithms=list(ALGORITHMS.values()))
    except (JoseError, ValueError) as error:
        raise GrantError("the signature does not belong to the key that is known here") from error
    claims: dict[str, Any] = signed.claims
    if signed.header.get("typ") != kind.type:
        raise GrantError(f"this is not an {kind.type} but {signed.header.get('typ')!r}")
    if claims.get("boot") != this_boot():
        raise GrantError("it was signed before this machine started, or on another one")
    _check_span(kind, claims, now_ms() if at_ms is None else at_ms)
    return claims


def _check_span(kind: TokenKind, claims: dict[str, Any], at_ms: int) -> None:
    start, end = claims.get("from_ms"), claims.get("until_ms")
    if type(start) is not int or type(end) is not int:
        raise GrantError("it does not say how long it holds")
    if end - start > kind.longest_ms:
        raise GrantError(f"it would hold for more than {kind.longest_ms / 1000:g} s")
    if not start <= at_ms < end:
        raise GrantError("its time is over, or has not come")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """What the monitor says about a session at this moment."""

    person: str
    session: str
    unlocked: bool
    reason: str


def request_state(
    path: Path,
    person: str,
    *,
    key: Key | KeySet,
    audience: str,
    timeout_s: float = 1.0,
) -> Assertion:
    """Give how the session of a person stands, checked; anything doubtful is an error.

    A fresh nonce is in the question and in the signed answer, so an old answer is of no use.
    """
    nonce = os.urandom(16).hex()
    answer = request(
        path, {"ask": "state", "nonce": nonce, "audience": audience}, timeout_s=timeout_s
    )
    claims = read_token(ASSERTION, str(answer.get("assertion")), key)
    if claims.get("nonce") != nonce or claims.get("aud") != audience:
        raise GrantError("the answer belongs to another question")
    if folded(str(claims.get("sub"))) != folded(person):
        raise GrantError(f"the monitor watches over somebody else than {person}")
    return Assertion(
        person=str(claims.get("sub")),
        session=str(claims.get("sid")),
        unlocked=claims.get("state") == "unlocked",
        reason=str(claims.get("reason")),
    )
