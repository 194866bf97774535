"""How a session stands, as each role may see it."""

import json
from dataclasses import dataclass, replace
from typing import Self

from acclock.matching.verdict import Confidence, Decision
from acclock.session.events import State
from acclock.session.reasons import Reason
from acclock.session.standing import Standing
from acclock.world.service.roles import Role

_SHARED = ("device", "state", "decision", "reason", "confidence", "at")
"""What replicas tell each other: nothing but what anybody may hear of a session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
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
    heard_s: float = 0.0
    """Monotonic clock: when the session itself last spoke."""

    def after(self, standing: Standing, *, at: float) -> Self:
        """Give the same session as it stands now."""
        rate = standing.answer.heart_rate_bpm
        return type(self)(  # several times a second for each stream: `replace` takes twice as long
            session=self.session,
            person=self.person,
            name=self.name,
            device=self.device,
            at=at,
            state=standing.state,
            decision=standing.decision,
            reason=standing.reason,
            confidence=standing.confidence,
            window=standing.answer.reason,
            heart_rate_bpm=None if rate is None else round(rate, 1),
            clarity=round(standing.answer.clarity, 2),
            nats=standing.answer.nats,
            lockout_s=standing.lockout_s,
            heard_s=standing.at_s,
        )

    def locked(self, reason: Reason) -> Self:
        """Give the same session, locked because nobody can vouch for it any longer."""
        return replace(self, state="locked", reason=reason, confidence="low", decision="no_signal")

    def pack(self) -> str:
        """Write down what replicas share."""
        return json.dumps({field: getattr(self, field) for field in _SHARED})

    @classmethod
    def unpack(cls, session: str, person: str, packed: str) -> Self:
        """Read what another replica wrote down; it knows no names."""
        told = json.loads(packed)
        return cls(
            session=session, person=person, name="", **told | {"reason": Reason(told["reason"])}
        )


def show(snapshot: Snapshot, role: Role) -> dict[str, object]:
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
