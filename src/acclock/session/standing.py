"""How a session stands, for whoever shows it or acts on it."""

from dataclasses import dataclass

from acclock.matching.verdict import Confidence, Decision
from acclock.session.answers import Answer
from acclock.session.events import Kind, State
from acclock.session.lock import Lock
from acclock.session.reasons import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What :class:`acclock.session.events.Status` tells, but for names and the wall clock."""

    at_s: float
    state: State
    reason: Reason
    """Why the session is locked or unlocked."""
    answer: Answer
    """What the last window said."""
    confidence: Confidence
    confirmed: bool
    """Whether the heartbeat has confirmed what opened the session."""
    lockout_s: float
    """How much longer the heartbeat alone does not open."""

    @property
    def unlocked(self) -> bool:
        return self.state == "unlocked"

    @property
    def decision(self) -> Decision:
        return self.answer.decision


def stand(lock: Lock, answer: Answer, *, clear: bool, now_s: float) -> Standing:
    """Say how a session stands now."""
    confidence: Confidence = "low"
    if lock.unlocked:
        confidence = "high" if lock.confirmed and clear else "medium"
    return Standing(
        at_s=now_s,
        state=lock.state,
        reason=lock.reason,
        answer=answer,
        confidence=confidence,
        confirmed=lock.confirmed,
        lockout_s=max(0.0, lock.lockout_until_s - now_s),
    )


def name_changes(before: Standing, after: Standing) -> tuple[Kind, ...]:
    """Say which events lie between two standings, in order."""
    kinds: list[Kind] = []
    if before.state != after.state:
        kinds.append(after.state)
    if after.lockout_s > before.lockout_s:
        kinds.append("lockout")
    if before.state == after.state == "unlocked" and before.confidence != after.confidence:
        kinds.append("confidence")
    return tuple(kinds)
