"""What each happening does to a lock."""

from dataclasses import replace
from math import inf

from acclock.session.happenings import (
    Answered,
    Ended,
    Forgotten,
    Granted,
    Happening,
    Passed,
    Shaken,
)
from acclock.session.lock import Lock, accuse, close_lock, open_lock, suspend
from acclock.session.policies import Policy
from acclock.session.reasons import Reason


def step(lock: Lock, happening: Happening, policy: Policy) -> Lock:
    """Let something happen to a lock. Whatever is not provided for changes nothing."""
    aged = _age(lock, happening.at_s, policy)
    match happening:
        case Granted():
            return _grant(aged, happening, policy)
        case Answered():
            return _answer(aged, happening, policy)
        case Shaken():
            return suspend(aged, Reason.HANDLED, happening.at_s, policy)
        case Ended():
            ended = replace(aged, worn=False, accused=False)
            return close_lock(ended, happening.reason, happening.at_s)
        case Forgotten():
            return replace(close_lock(aged, Reason.FORGOTTEN, happening.at_s), forgotten=True)
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


def _grant(lock: Lock, granted: Granted, policy: Policy) -> Lock:
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


def _answer(lock: Lock, heard: Answered, policy: Policy) -> Lock:
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


def _see(lock: Lock, heard: Answered) -> Lock:
    """Note whether the earphone is worn; windows of the warm-up cannot tell."""
    if heard.answer.reason is Reason.WARM_UP:
        return lock
    worn, accused = heard.answer.decision != "no_signal", lock.accused and not heard.proven
    if (worn, accused) == (lock.worn, lock.accused):  # nearly always, and a copy is not cheap
        return lock
    return replace(lock, worn=worn, accused=accused)


def _sustain(lock: Lock, heard: Answered) -> Lock:
    confirmed = lock.confirmed or heard.proven
    speaks = heard.answer.decision == "accept" and heard.clear
    renewed_s = heard.at_s if speaks or (confirmed and not lock.confirmed) else lock.renewed_s
    reason = Reason.USER if confirmed and speaks else lock.reason
    return replace(lock, confirmed=confirmed, renewed_s=renewed_s, reason=reason)


def _enter(lock: Lock, heard: Answered, policy: Policy) -> Lock:
    """Open by the heartbeat alone, where the owner has chosen that."""
    refused = policy.entry != "heartbeat" or lock.locked_out(heard.at_s)
    if refused or not _speaks_for_user(heard):
        return lock
    return _sustain(open_lock(replace(lock, expires_s=inf), Reason.USER, heard.at_s), heard)


def _speaks_for_user(heard: Answered) -> bool:
    return heard.proven and heard.clear and heard.answer.decision == "accept"
