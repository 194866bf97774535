"""How a session stands, for whoever shows it or acts on it."""

from dataclasses import dataclass

from acclock.live.answers import Reason, WindowAnswer
from acclock.live.events import Kind, State
from acclock.live.lock import Lock
from acclock.matching.verdict import Confidence, Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """What :class:`acclock.live.events.SessionStatus` tells, but for names and the wall clock."""

    at_s: float
    state: State
    reason: Reason
    """Why the session is locked or unlocked."""
    answer: WindowAnswer
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


def describe(lock: Lock, answer: WindowAnswer, *, clear: bool, now_s: float) -> SessionState:
    """Say how a session stands now."""
    confidence: Confidence = "low"
    if lock.unlocked:
        confidence = "high" if lock.confirmed and clear else "medium"
    return SessionState(
        at_s=now_s,
        state=lock.state,
        reason=lock.reason,
        answer=answer,
        confidence=confidence,
        confirmed=lock.confirmed,
        lockout_s=max(0.0, lock.lockout_until_s - now_s),
    )


def name_changes(before: SessionState, after: SessionState) -> tuple[Kind, ...]:
    """Say which events lie between two standings, in order."""
    kinds: list[Kind] = []
    if before.state != after.state:
        kinds.append(after.state)
    if after.lockout_s > before.lockout_s:
        kinds.append("lockout")
    if before.state == after.state == "unlocked" and before.confidence != after.confidence:
        kinds.append("confidence")
    return tuple(kinds)
