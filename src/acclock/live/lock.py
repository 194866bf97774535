"""Locked or unlocked: a frozen state, what can happen to it, and what that changes."""

from dataclasses import dataclass, replace
from math import inf

from acclock.live.answers import Reason, WindowAnswer
from acclock.live.events import State
from acclock.live.grants import Grant
from acclock.live.policies import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantReceived:
    """Another factor vouches for the user."""

    at_s: float
    grant: Grant


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowAnswered:
    """A window was judged."""

    at_s: float
    answer: WindowAnswer
    proven: bool = False
    """Whether this wearing has been proven to be the user's, and not been shaken since."""
    disproven: bool = False
    clear: bool = True
    """Whether little speaks against the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaken:
    """The earphone moved as it does in a hand."""

    at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The wearing is over, or nobody can tell: removed, a gap, a disconnect, a wrong clock."""

    at_s: float
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """The person was deleted."""

    at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """Time has passed, and nothing else."""

    at_s: float


LockInput = GrantReceived | WindowAnswered | Shaken | Ended | Forgotten | Passed


_MOST_DOUBLINGS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """How a session is locked, and what it remembers of how it came to that."""

    state: State = "locked"
    reason: Reason = Reason.UNOPENED
    changed_s: float = -inf
    """When it was last opened, resumed or closed."""
    confirmed: bool = False
    """Whether the heartbeat has proven what a grant claimed."""
    renewed_s: float = -inf
    """When the heartbeat last spoke for the user, with little against them."""
    expires_s: float = -inf
    """When the grant that opened it expires."""
    waiting_until_s: float = -inf
    """Until when a grant that found nobody wearing the earphone may still open."""
    resumable_until_s: float = -inf
    """Until when the same wearing, proven once more, may take the session up again."""
    worn: bool = False
    """Whether the last window that could tell was of somebody wearing the earphone."""
    accused: bool = False
    """Whether this wearing already counts as an episode."""
    episodes: int = 0
    """Strangers since the last grant."""
    lockout_until_s: float = -inf
    forgotten: bool = False

    @property
    def unlocked(self) -> bool:
        return self.state == "unlocked"

    def locked_out(self, now_s: float) -> bool:
        """Whether the heartbeat alone does not open just now."""
        return now_s < self.lockout_until_s


def open_lock(lock: Lock, reason: Reason, now_s: float) -> Lock:
    """Unlock; whatever opened it has yet to be confirmed."""
    return replace(
        lock,
        state="unlocked",
        reason=reason,
        changed_s=now_s,
        confirmed=False,
        renewed_s=now_s,
        waiting_until_s=-inf,
        resumable_until_s=-inf,
    )


def close_lock(lock: Lock, reason: Reason, now_s: float) -> Lock:
    """Lock, and let go of every grant: what opens next must be new."""
    return replace(
        lock,
        state="locked",
        reason=Reason.FORGOTTEN if lock.forgotten else reason,
        changed_s=now_s if lock.unlocked else lock.changed_s,
        confirmed=False,
        waiting_until_s=-inf,
        resumable_until_s=-inf,
    )


def suspend(lock: Lock, reason: Reason, now_s: float, policy: Policy) -> Lock:
    """Lock at once, but let a proven wearing take the session up again before long."""
    if not lock.unlocked:
        return lock
    until_s = min(lock.expires_s, now_s + policy.resume_s) if lock.confirmed else -inf
    return replace(close_lock(lock, reason, now_s), resumable_until_s=until_s)


def accuse(lock: Lock, now_s: float, policy: Policy) -> Lock:
    """Close because of a stranger; one wearing is one episode, however long it tries."""
    closed = close_lock(lock, Reason.STRANGER, now_s)
    counts = lock.unlocked or (policy.entry == "heartbeat" and not lock.accused)
    if not counts:
        return closed
    episodes = lock.episodes + 1
    accused = replace(closed, episodes=episodes, accused=True)
    if episodes < policy.episodes:
        return accused
    doublings = min(episodes - policy.episodes, _MOST_DOUBLINGS)
    length_s = min(policy.longest_lockout_s, policy.lockout_s * 2.0**doublings)
    return replace(accused, reason=Reason.LOCKOUT, lockout_until_s=now_s + length_s)


def step(lock: Lock, lock_input: LockInput, policy: Policy) -> Lock:
    """Let something happen to a lock. Whatever is not provided for changes nothing."""
    aged = _age(lock, lock_input.at_s, policy)
    match lock_input:
        case GrantReceived():
            return _grant(aged, lock_input, policy)
        case WindowAnswered():
            return _answer(aged, lock_input, policy)
        case Shaken():
            return suspend(aged, Reason.HANDLED, lock_input.at_s, policy)
        case Ended():
            ended = replace(aged, worn=False, accused=False)
            return close_lock(ended, lock_input.reason, lock_input.at_s)
        case Forgotten():
            return replace(close_lock(aged, Reason.FORGOTTEN, lock_input.at_s), forgotten=True)
        case Passed():
            return aged


def _age(lock: Lock, now_s: float, policy: Policy) -> Lock:
    """Close what time closes: no trust lasts by itself."""
    if not lock.unlocked:
        return lock
    if now_s >= lock.expires_s:
        return close_lock(lock, Reason.EXPIRED, now_s)
    if not lock.confirmed and now_s - lock.changed_s >= policy.confirm_s:
        return close_lock(lock, Reason.UNCONFIRMED, now_s)
    if lock.confirmed and now_s - lock.renewed_s >= policy.grace_s:
        return suspend(lock, Reason.UNSURE, now_s, policy)
    return lock


def _grant(lock: Lock, granted: GrantReceived, policy: Policy) -> Lock:
    """Open, or wait for somebody to wear the earphone; a lockout ends either way."""
    now_s, expires_s = granted.at_s, granted.grant.expires_s
    if lock.forgotten or not now_s < expires_s:
        return lock
    trusted = replace(lock, episodes=0, lockout_until_s=-inf, expires_s=expires_s)
    if lock.unlocked:
        return trusted
    if not lock.worn:
        return replace(trusted, waiting_until_s=min(expires_s, now_s + policy.confirm_s))
    return open_lock(trusted, Reason.GRANTED, now_s)


def _answer(lock: Lock, heard: WindowAnswered, policy: Policy) -> Lock:
    if lock.forgotten:
        return lock
    lock = _see(lock, heard)
    if heard.disproven:
        return accuse(lock, heard.at_s, policy)
    if lock.unlocked:
        return _sustain(lock, heard)
    if heard.at_s < lock.waiting_until_s and lock.worn:
        return _sustain(open_lock(lock, Reason.GRANTED, heard.at_s), heard)
    if heard.at_s < lock.resumable_until_s and _speaks_for_user(heard):
        return _sustain(open_lock(lock, Reason.USER, heard.at_s), heard)
    return _enter(lock, heard, policy)


def _see(lock: Lock, heard: WindowAnswered) -> Lock:
    """Note whether the earphone is worn; windows of the warm-up cannot tell."""
    if heard.answer.reason is Reason.WARM_UP:
        return lock
    worn, accused = heard.answer.decision != "no_signal", lock.accused and not heard.proven
    if (worn, accused) == (lock.worn, lock.accused):  # nearly always, and a copy is not cheap
        return lock
    return replace(lock, worn=worn, accused=accused)


def _sustain(lock: Lock, heard: WindowAnswered) -> Lock:
    confirmed = lock.confirmed or heard.proven
    speaks = heard.answer.decision == "accept" and heard.clear
    renewed_s = heard.at_s if speaks or (confirmed and not lock.confirmed) else lock.renewed_s
    reason = Reason.USER if confirmed and speaks else lock.reason
    return replace(lock, confirmed=confirmed, renewed_s=renewed_s, reason=reason)


def _enter(lock: Lock, heard: WindowAnswered, policy: Policy) -> Lock:
    """Open by the heartbeat alone, where the owner has chosen that."""
    refused = policy.entry != "heartbeat" or lock.locked_out(heard.at_s)
    if refused or not _speaks_for_user(heard):
        return lock
    return _sustain(open_lock(replace(lock, expires_s=inf), Reason.USER, heard.at_s), heard)


def _speaks_for_user(heard: WindowAnswered) -> bool:
    return heard.proven and heard.clear and heard.answer.decision == "accept"
