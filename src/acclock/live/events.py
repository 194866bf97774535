"""What a session tells the world: how it stands now, and what has just changed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from acclock.errors import ConfigError
from acclock.matching.verdict import Confidence, Decision

State = Literal["locked", "unlocked"]
Kind = Literal[
    "started", "unlocked", "locked", "lockout", "confidence", "template", "trouble", "stopped"
]
"""``confidence``: trust rose or fell by a level while unlocked; ``template``: it was updated;
``trouble``: an output did not take what it was told, or a background task failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStatus:
    """How one session stands after a decision; nothing in it gives a template away."""

    session: str
    """A random name of this run of the monitor."""
    person: str
    device: str
    at: datetime
    """Wall clock, with its time zone: for people. Nothing is decided by it."""
    state: State = "locked"
    decision: Decision = "no_signal"
    """The last window's answer."""
    reason: str = "nothing was heard yet"
    confidence: Confidence = "low"
    heart_rate_bpm: float | None = None
    clarity: float = 0.0
    """How clear the heartbeat is, from 0 to 1."""

    def __post_init__(self) -> None:
        if self.at.tzinfo is None:
            raise ConfigError("the time of a status needs its time zone")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEvent:
    """Something changed. The number rises by one in a session, so that a repeat is noticed."""

    kind: Kind
    number: int
    status: SessionStatus
    note: str = ""
    """What went wrong, where the event is trouble."""
