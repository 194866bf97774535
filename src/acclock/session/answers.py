"""What one window says about its wearer."""

from dataclasses import dataclass

from acclock.denoising.quality import Disturbance, WindowQuality
from acclock.matching.verdict import Decision
from acclock.session.reasons import Reason

_FAULTS: dict[Disturbance, tuple[Decision, Reason]] = {
    "warm-up": ("uncertain", Reason.WARM_UP),
    "gap": ("no_signal", Reason.GAP),
    "silence": ("no_signal", Reason.REMOVED),
    "absence": ("no_signal", Reason.REMOVED),
    "saturation": ("uncertain", Reason.MOTION),
    "activity": ("uncertain", Reason.MOTION),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
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


def judge_fault(quality: WindowQuality) -> Answer:
    """Answer for a window that is no good for telling people apart."""
    decision, reason = _FAULTS[quality.disturbance]
    return _answer(decision, reason, quality)


def judge_motion(quality: WindowQuality) -> Answer:
    """Answer for a window that may hold more than a head's motion, whatever it looks like."""
    return _answer("uncertain", Reason.MOTION, quality)


def judge_weight(quality: WindowQuality, nats: float | None, *, lively: bool) -> Answer:
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
) -> Answer:
    rate = quality.heart_rate
    return Answer(
        decision=decision,
        reason=reason,
        nats=nats,
        heart_rate_bpm=rate.bpm if rate.clear else None,
        clarity=rate.clarity,
    )
