"""Whether a session is open right now, signed for whoever asks, good for a second."""

import os
from dataclasses import dataclass
from pathlib import Path

from joserfc.jwk import Key, KeySet

from acclock.errors import GrantError
from acclock.world.asking import ask
from acclock.world.passes import ASSERTION, read_pass
from acclock.world.vault.names import folded


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """What the monitor says about a session at this moment."""

    person: str
    session: str
    unlocked: bool
    reason: str


def ask_state(
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
    answer = ask(path, {"ask": "state", "nonce": nonce, "audience": audience}, timeout_s=timeout_s)
    claims = read_pass(ASSERTION, str(answer.get("assertion")), key)
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
