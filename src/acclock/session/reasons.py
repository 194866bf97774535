"""Why a window says what it says, and why a session stands as it does."""

from enum import StrEnum

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
