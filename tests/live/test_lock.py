"""Examples of what a lock does; tests/live/test_lock_machine.py has the laws."""

from dataclasses import replace
from functools import reduce
from math import inf

import pytest

from acclock.live.answers import Reason, WindowAnswer
from acclock.live.grants import Grant
from acclock.live.lock import (
    Ended,
    Forgotten,
    GrantReceived,
    Lock,
    LockInput,
    Passed,
    Shaken,
    WindowAnswered,
    step,
)
from acclock.live.policies import BALANCED, STRICT, Policy

ACCEPT = WindowAnswer(decision="accept", reason=Reason.USER, nats=3.0)
REJECT = WindowAnswer(decision="reject", reason=Reason.STRANGER, nats=-3.0)
MOVING = WindowAnswer(decision="uncertain", reason=Reason.MOTION)
ALONE = BALANCED.opened_by("heartbeat")


def granted(at_s: float, expires_s: float = inf) -> GrantReceived:
    return GrantReceived(at_s=at_s, grant=Grant(person="anna", expires_s=expires_s))


def accepted(at_s: float, *, proven: bool = True) -> WindowAnswered:
    return WindowAnswered(at_s=at_s, answer=ACCEPT, proven=proven)


def moving(at_s: float) -> WindowAnswered:
    return WindowAnswered(at_s=at_s, answer=MOVING, proven=True)


def disproven(at_s: float) -> WindowAnswered:
    return WindowAnswered(at_s=at_s, answer=REJECT, disproven=True, clear=False)


def play(*lock_inputs: LockInput, policy: Policy = BALANCED) -> Lock:
    return reduce(lambda lock, one: step(lock, one, policy), lock_inputs, Lock())


OPENED = (accepted(1.0), granted(2.0), accepted(3.0))


@pytest.mark.parametrize(
    ("lock_inputs", "state", "reason"),
    [
        ((), "locked", "unopened"),
        ((accepted(1.0), accepted(2.0)), "locked", "unopened"),
        (OPENED, "unlocked", "user"),
        ((moving(1.0), granted(2.0)), "unlocked", "granted"),
        ((granted(1.0),), "locked", "unopened"),
        ((granted(1.0), moving(2.0)), "unlocked", "granted"),
        ((granted(1.0), accepted(70.0)), "locked", "unopened"),
        ((accepted(1.0), granted(2.0, expires_s=2.0)), "locked", "unopened"),
        ((*OPENED, moving(17.0)), "unlocked", "user"),
        ((*OPENED, moving(18.0)), "locked", "unsure"),
        ((*OPENED, Passed(at_s=18.0)), "locked", "unsure"),
        ((*OPENED, moving(18.0), accepted(30.0, proven=False)), "locked", "unsure"),
        ((*OPENED, moving(18.0), accepted(30.0)), "unlocked", "user"),
        ((*OPENED, moving(18.0), accepted(78.0)), "locked", "unsure"),
        ((moving(1.0), granted(2.0), moving(61.0)), "unlocked", "granted"),
        ((moving(1.0), granted(2.0), moving(62.0)), "locked", "unconfirmed"),
        ((*OPENED, disproven(4.0)), "locked", "stranger"),
        ((*OPENED, disproven(4.0), accepted(5.0)), "locked", "stranger"),
        ((*OPENED, Ended(at_s=4.0, reason=Reason.REMOVED), accepted(9.0)), "locked", "removed"),
        ((*OPENED, Shaken(at_s=4.0)), "locked", "handled"),
        ((*OPENED, Shaken(at_s=4.0), accepted(12.0, proven=False)), "locked", "handled"),
        ((*OPENED, Shaken(at_s=4.0), accepted(12.0)), "unlocked", "user"),
        ((*OPENED, Shaken(at_s=4.0), accepted(64.0)), "locked", "handled"),
        (
            (*OPENED, Shaken(at_s=4.0), Ended(at_s=6.0, reason=Reason.REMOVED), accepted(12.0)),
            "locked",
            "removed",
        ),
        ((*OPENED, Forgotten(at_s=4.0), granted(5.0), accepted(6.0)), "locked", "forgotten"),
    ],
)
def test_lock_after(lock_inputs: tuple[LockInput, ...], state: str, reason: str) -> None:
    lock = play(*lock_inputs)

    assert (lock.state, lock.reason.value) == (state, reason)


def test_a_grant_expires_whatever_the_heart_says() -> None:
    lock = play(accepted(1.0), granted(2.0, expires_s=10.0), accepted(9.9), accepted(10.0))

    assert (lock.state, lock.reason) == ("locked", Reason.EXPIRED)


def test_a_strict_session_never_resumes() -> None:
    assert not play(*OPENED, Shaken(at_s=4.0), accepted(4.0), policy=STRICT).unlocked


def test_standing_doubt_does_not_renew_trust() -> None:
    doubtful = [replace(accepted(float(at_s)), clear=False) for at_s in range(4, 40)]

    lock = play(*OPENED, *doubtful)

    assert (lock.state, lock.reason) == ("locked", Reason.UNSURE)


def test_a_stranger_is_one_episode_however_long_they_try() -> None:
    lock = play(*[disproven(float(at_s)) for at_s in range(0, 600, 10)], policy=ALONE)

    assert lock.episodes == 1
    assert not lock.locked_out(600.0)


def come_and_go(times: int) -> list[LockInput]:
    comings: list[LockInput] = []
    for number in range(times):
        comings += [
            disproven(100.0 * number),
            Ended(at_s=100.0 * number + 50.0, reason=Reason.REMOVED),
        ]
    return comings


@pytest.mark.parametrize(
    ("times", "lockout_s"), [(1, 0), (2, 0), (3, 30), (4, 60), (5, 120), (9, 900), (60, 900)]
)
def test_lockouts_grow_and_end(times: int, lockout_s: float) -> None:
    lock = play(*come_and_go(times), policy=ALONE)

    last_s = 100.0 * (times - 1)
    assert lock.episodes == times
    assert lock.locked_out(last_s) == (lockout_s > 0)
    assert lock.lockout_until_s in (-inf, last_s + lockout_s)
    assert not lock.locked_out(last_s + lockout_s)


def test_a_lockout_keeps_even_the_owner_from_entering_by_heartbeat_until_it_ends() -> None:
    lock_inputs = come_and_go(3)

    early = play(*lock_inputs, accepted(251.0 - 30.0), policy=ALONE)
    late = play(*lock_inputs, accepted(260.0), policy=ALONE)

    assert not early.unlocked
    assert late.unlocked


def test_another_factor_ends_a_lockout() -> None:
    lock = play(*come_and_go(3), moving(210.0), granted(211.0), policy=ALONE)

    assert lock.unlocked
    assert (lock.episodes, lock.locked_out(211.0)) == (0, False)


def test_the_heartbeat_alone_opens_only_where_that_was_chosen() -> None:
    assert play(accepted(1.0), policy=ALONE).unlocked
    assert not play(accepted(1.0)).unlocked
