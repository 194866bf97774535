"""How a session stands, as each role may see it."""

import json
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Self, get_args

from acclock.errors import VaultError
from acclock.live.answers import Reason
from acclock.live.events import State
from acclock.live.session_state import SessionState
from acclock.matching.verdict import Confidence, Decision
from acclock.service.auth.roles import Role

_SHARED = ("device", "state", "decision", "reason", "confidence", "at")
"""What replicas tell each other: nothing but what anybody may hear of a session."""
_KNOWN: dict[str, tuple[str, ...]] = {
    "state": get_args(State),
    "decision": get_args(Decision),
    "reason": tuple(Reason),
    "confidence": get_args(Confidence),
}


class UnreadableRowError(VaultError):
    """A row of another replica holds what this version does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSnapshot:
    """One session at one moment."""

    session: str
    person: str
    """The person's number."""
    name: str
    device: str
    at: float
    """Wall clock, seconds since 1970: for people. Nothing is decided by it."""
    state: State = "locked"
    decision: Decision = "no_signal"
    reason: Reason = Reason.UNOPENED
    confidence: Confidence = "low"
    window: Reason = Reason.UNOPENED
    """Why the last window said what it said."""
    heart_rate_bpm: float | None = None
    clarity: float = 0.0
    nats: float = 0.0
    lockout_s: float = 0.0
    received_s: float = 0.0
    """Monotonic clock: when the session itself last spoke."""

    def after(self, session_state: SessionState, *, at: float) -> Self:
        """Give the same session as it stands now."""
        rate = session_state.answer.heart_rate_bpm
        return type(self)(  # several times a second for each stream: `replace` takes twice as long
            session=self.session,
            person=self.person,
            name=self.name,
            device=self.device,
            at=at,
            state=session_state.state,
            decision=session_state.decision,
            reason=session_state.reason,
            confidence=session_state.confidence,
            window=session_state.answer.reason,
            heart_rate_bpm=None if rate is None else round(rate, 1),
            clarity=round(session_state.answer.clarity, 2),
            nats=session_state.answer.nats,
            lockout_s=session_state.lockout_s,
            received_s=session_state.at_s,
        )

    def locked(self, reason: Reason) -> Self:
        """Give the same session, locked because nobody can vouch for it any longer."""
        return replace(self, state="locked", reason=reason, confidence="low", decision="no_signal")

    def pack(self) -> str:
        """Write down what replicas share."""
        return json.dumps({field: getattr(self, field) for field in _SHARED})

    @classmethod
    def unpack(cls, session: str, person: str, packed: str) -> Self:
        """Read what another replica wrote down; it knows no names.

        What this version does not understand in full, it refuses: whoever reads a newer replica
        only in part may take what is locked for open.
        """
        told = _read_fields(packed)
        return cls(session=session, person=person, name="", **told)


def _read_fields(packed: str) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(packed)
        if set(told) != set(_SHARED):
            raise UnreadableRowError(f"fields {sorted(told)}, not {sorted(_SHARED)}")
        for name, known in _KNOWN.items():
            if told[name] not in known:
                raise UnreadableRowError(f"an unknown {name}")
        device, at = str(told["device"]), float(told["at"])
        if not isfinite(at):
            raise UnreadableRowError("a time that is none")
        return told | {"device": device, "at": at, "reason": Reason(told["reason"])}
    except (ValueError, TypeError, RecursionError) as error:
        raise UnreadableRowError(f"no fields ({type(error).__name__})") from error


def show(snapshot: SessionSnapshot, role: Role) -> dict[str, object]:
    """Give what a role may see: numbers that tell of the template are the operator's alone."""
    seen: dict[str, object] = {
        "session": snapshot.session,
        "person": snapshot.name,
        "state": snapshot.state,
        "decision": snapshot.decision,
        "reason": snapshot.reason.value,
        "sentence": snapshot.reason.sentence,
        "confidence": snapshot.confidence,
        "window": snapshot.window.value,
        "window_sentence": snapshot.window.sentence,
        "at": round(snapshot.at, 3),
    }
    if role == "relying-party":
        return seen
    seen |= {
        "device": snapshot.device,
        "heart_rate_bpm": snapshot.heart_rate_bpm,
        "clarity": snapshot.clarity,
    }
    if role == "operator":
        seen |= {"nats": round(snapshot.nats, 3), "lockout_s": round(snapshot.lockout_s, 1)}
    return seen
