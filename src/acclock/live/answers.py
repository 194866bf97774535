"""What one window says about its wearer, and why."""

from dataclasses import dataclass
from enum import StrEnum

from acclock.denoising.quality import Disturbance, WindowQuality
from acclock.matching.verdict import Decision

_SENTENCES = {
    "user": "the heartbeat is the user's",
    "stranger": "the heartbeat is not the user's",
    "motion": "there is too much motion to hear the heartbeat",
    "weak": "the heartbeat is too weak to tell",
    "warm-up": "listening has only just begun",
    "removed": "the earphone is not worn",
    "handled": "the earphone was shaken as if by a hand",
    "gap": "samples are missing",
    "loss": "too many samples are lost on the way",
    "stalled": "no samples arrive",
    "stale": "the samples or their answers come too late",
    "clock": "the clock of the samples cannot be trusted",
    "disconnected": "the earphone is disconnected",
    "ended": "the source has ended",
    "garbage": "the source sends what cannot be read",
    "failed": "a part of the program has failed",
    "unopened": "nothing has opened the session",
    "granted": "another factor has opened the session",
    "unconfirmed": "the heartbeat has not confirmed the grant in time",
    "unsure": "nothing has spoken for the user for too long",
    "expired": "the grant has expired",
    "lockout": "too many strangers have tried",
    "forgotten": "the user is no longer known",
    "superseded": "another stream of the user has taken over",
}


class Reason(StrEnum):
    """One word for a program; ``sentence`` is for people. No number gives a template away."""

    USER = "user"
    STRANGER = "stranger"
    MOTION = "motion"
    WEAK = "weak"
    WARM_UP = "warm-up"
    REMOVED = "removed"
    HANDLED = "handled"
    GAP = "gap"
    LOSS = "loss"
    STALLED = "stalled"
    STALE = "stale"
    CLOCK = "clock"
    DISCONNECTED = "disconnected"
    ENDED = "ended"
    GARBAGE = "garbage"
    FAILED = "failed"
    UNOPENED = "unopened"
    GRANTED = "granted"
    UNCONFIRMED = "unconfirmed"
    UNSURE = "unsure"
    EXPIRED = "expired"
    LOCKOUT = "lockout"
    FORGOTTEN = "forgotten"
    SUPERSEDED = "superseded"

    @property
    def sentence(self) -> str:
        """Say it as a clause.

        >>> Reason.REMOVED.sentence
        'the earphone is not worn'
        """
        return _SENTENCES[self.value]


_FAULTS: dict[Disturbance, tuple[Decision, Reason]] = {
    "warm-up": ("uncertain", Reason.WARM_UP),
    "gap": ("no_signal", Reason.GAP),
    "silence": ("no_signal", Reason.REMOVED),
    "absence": ("no_signal", Reason.REMOVED),
    "saturation": ("uncertain", Reason.MOTION),
    "activity": ("uncertain", Reason.MOTION),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowAnswer:
    """One of four answers, with its reason and what it weighs."""

    decision: Decision = "no_signal"
    reason: Reason = Reason.UNOPENED
    nats: float = 0.0
    """Evidence for the user, negative against: for the operator, it tells of the template."""
    heart_rate_bpm: float | None = None
    clarity: float = 0.0
    """How clear the heartbeat is, from 0 to 1."""


def needs_embedding(quality: WindowQuality) -> bool:
    """Tell whether anything can be learned from who the window looks like."""
    return quality.disturbance not in _FAULTS


def judge_fault(quality: WindowQuality) -> WindowAnswer:
    """Answer for a window that is no good for telling people apart."""
    decision, reason = _FAULTS[quality.disturbance]
    return _answer(decision, reason, quality)


def judge_motion(quality: WindowQuality) -> WindowAnswer:
    """Answer for a window that may hold more than a head's motion, whatever it looks like."""
    return _answer("uncertain", Reason.MOTION, quality)


def judge_weight(quality: WindowQuality, nats: float | None, *, lively: bool) -> WindowAnswer:
    """Answer for a window by the nats that it speaks for the user; ``None`` when it has none.

    Talking or shaking the head makes a window unlike its wearer's others: a lively window may
    speak for the user but not against them. Trust that nothing renews ends by itself.
    """
    if nats is None:
        return _answer("uncertain", Reason.WEAK, quality)
    if nats > 0.0:
        return _answer("accept", Reason.USER, quality, nats)
    if lively:
        return _answer("uncertain", Reason.MOTION, quality)
    return _answer("reject", Reason.STRANGER, quality, nats)


def _answer(
    decision: Decision, reason: Reason, quality: WindowQuality, nats: float = 0.0
) -> WindowAnswer:
    rate = quality.heart_rate
    return WindowAnswer(
        decision=decision,
        reason=reason,
        nats=nats,
        heart_rate_bpm=rate.bpm if rate.clear else None,
        clarity=rate.clarity,
    )
