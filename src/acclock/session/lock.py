"""Locked or unlocked: a frozen state, and the four ways in which it changes."""

from dataclasses import dataclass, replace
from math import inf

from acclock.session.events import State
from acclock.session.policies import Policy
from acclock.session.reasons import Reason

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
