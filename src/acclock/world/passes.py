"""Signed statements that live for a moment of the boot clock: assertions and grants."""

from dataclasses import dataclass, field
from time import time
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import Key, KeySet

from acclock.errors import GrantError
from acclock.world.boot_clock import now_ms, this_boot
from acclock.world.signing_keys import ALGORITHMS, algorithm


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of pass. Its name is in the signed header: none is mistaken for another."""

    type: str
    longest_ms: int


ASSERTION = Kind(type="acclock-assertion+jwt", longest_ms=1_000)
GRANT = Kind(type="acclock-grant+jwt", longest_ms=600_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """From when to when something holds, on the boot clock."""

    from_ms: int
    until_ms: int
    boot: str = field(default_factory=this_boot)


def sign_pass(kind: Kind, claims: dict[str, Any], span: Span, key: Key) -> str:
    """Give signed claims that hold for a span of the boot clock.

    ``exp`` says the same on the wall clock, for other people's libraries; nothing here reads it.
    """
    header = {"alg": algorithm(key), "typ": kind.type, "kid": key.kid}
    held = {"boot": span.boot, "from_ms": span.from_ms, "until_ms": span.until_ms}
    wall = {"iat": int(time()), "exp": round(time() + (span.until_ms - now_ms()) / 1000, 3)}
    return jwt.encode(header, claims | held | wall, key, algorithms=[algorithm(key)])


def read_pass(
    kind: Kind, token: str, key: Key | KeySet, *, at_ms: int | None = None
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


def _check_span(kind: Kind, claims: dict[str, Any], at_ms: int) -> None:
    start, end = claims.get("from_ms"), claims.get("until_ms")
    if type(start) is not int or type(end) is not int:
        raise GrantError("it does not say how long it holds")
    if end - start > kind.longest_ms:
        raise GrantError(f"it would hold for more than {kind.longest_ms / 1000:g} s")
    if not start <= at_ms < end:
        raise GrantError("its time is over, or has not come")
