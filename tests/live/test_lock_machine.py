"""Whatever happens, in whatever order: never unlocked without a living reason to be.

The model is a list of what happened. It does not step; it looks back and asks.
"""

from math import inf

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

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
from acclock.live.policies import BALANCED, COMFORTABLE, STRICT, Policy

ANSWERS = [
    WindowAnswer(decision="accept", reason=Reason.USER, nats=2.0),
    WindowAnswer(decision="reject", reason=Reason.STRANGER, nats=-2.0),
    WindowAnswer(decision="uncertain", reason=Reason.MOTION),
    WindowAnswer(decision="uncertain", reason=Reason.WARM_UP),
]
ENDS = [Reason.REMOVED, Reason.GAP, Reason.LOSS, Reason.STALLED, Reason.STALE, Reason.CLOCK]
PASSED_S = st.sampled_from([0.0, 0.5, 0.5, 0.5, 5.0, 12.0, 31.0, 100.0])


class LockMachine(RuleBasedStateMachine):
    policy: Policy = BALANCED

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0
        self.lock = Lock()
        self.past: list[LockInput] = []

    def let(self, lock_input: LockInput) -> None:
        before = self.lock
        self.past.append(lock_input)
        self.lock = step(self.lock, lock_input, self.policy)
        if self.lock.unlocked and not before.unlocked:
            assert isinstance(lock_input, GrantReceived | WindowAnswered)

    @rule(passed_s=PASSED_S, lasts_s=st.sampled_from([-1.0, 10.0, 50.0, inf]))
    def grant(self, passed_s: float, lasts_s: float) -> None:
        self.now_s += passed_s
        self.let(
            GrantReceived(
                at_s=self.now_s, grant=Grant(person="anna", expires_s=self.now_s + lasts_s)
            )
        )

    @rule(
        passed_s=PASSED_S,
        answer=st.sampled_from(ANSWERS),
        proven=st.booleans(),
        disproven=st.sampled_from([False, False, False, True]),
        clear=st.sampled_from([True, True, False]),
    )
    def answer(
        self, passed_s: float, answer: WindowAnswer, proven: bool, disproven: bool, clear: bool
    ) -> None:
        self.now_s += passed_s
        self.let(
            WindowAnswered(
                at_s=self.now_s,
                answer=answer,
                proven=proven and not disproven,
                disproven=disproven,
                clear=clear and not disproven,
            )
        )

    @rule(passed_s=PASSED_S)
    def sustain(self, passed_s: float) -> None:
        self.answer(passed_s, ANSWERS[0], True, False, True)

    @rule(passed_s=PASSED_S)
    def shake(self, passed_s: float) -> None:
        self.now_s += passed_s
        self.let(Shaken(at_s=self.now_s))

    @rule(passed_s=PASSED_S, reason=st.sampled_from(ENDS))
    def end(self, passed_s: float, reason: Reason) -> None:
        self.now_s += passed_s
        self.let(Ended(at_s=self.now_s, reason=reason))

    @rule(passed_s=PASSED_S, times=st.integers(1, 4))
    def let_strangers_try(self, passed_s: float, times: int) -> None:
        for _ in range(times):
            self.answer(passed_s, ANSWERS[1], False, True, False)
            self.end(0.5, Reason.REMOVED)

    @rule(passed_s=PASSED_S)
    def wait(self, passed_s: float) -> None:
        self.now_s += passed_s
        self.let(Passed(at_s=self.now_s))

    @rule(sure=st.sampled_from([False] * 9 + [True]))
    def forget(self, sure: bool) -> None:
        if sure:
            self.let(Forgotten(at_s=self.now_s))

    @invariant()
    def a_forgotten_person_has_no_session(self) -> None:
        if any(isinstance(one, Forgotten) for one in self.past):
            assert not self.lock.unlocked

    @invariant()
    def the_wearing_has_not_ended_since_it_was_opened(self) -> None:
        if self.lock.unlocked:
            since = self.since_the_end()
            grants = [one for one in since if isinstance(one, GrantReceived)]
            proofs = [one for one in since if isinstance(one, WindowAnswered) and one.proven]
            assert grants or (self.policy.entry == "heartbeat" and proofs)

    @invariant()
    def nothing_is_trusted_longer_than_the_policy_allows(self) -> None:
        if self.lock.unlocked:
            longest_s = max(self.policy.grace_s, self.policy.confirm_s)
            assert self.now_s - self.last_good_s() < 2 * longest_s

    @invariant()
    def no_grant_outlives_itself(self) -> None:
        if self.lock.unlocked and self.policy.entry == "grant":
            grants = [one for one in self.past if isinstance(one, GrantReceived)]
            assert any(one.at_s <= self.now_s < one.grant.expires_s for one in grants)

    @invariant()
    def a_stranger_or_a_shake_locks_at_once(self) -> None:
        if self.past and isinstance(self.past[-1], Shaken | Ended):
            assert not self.lock.unlocked
        if self.past and isinstance(self.past[-1], WindowAnswered):
            assert not (self.past[-1].disproven and self.lock.unlocked)

    @invariant()
    def a_lockout_is_bounded(self) -> None:
        assert self.lock.lockout_until_s <= self.now_s + self.policy.longest_lockout_s

    @invariant()
    def a_lockout_is_not_opened_by_a_heart(self) -> None:
        if self.lock.unlocked and self.lock.locked_out(self.now_s):
            raise AssertionError("unlocked while locked out")

    def since_the_end(self) -> list[LockInput]:
        """Look back to the last thing that only a new grant, or a new proof, may follow."""
        ends = [
            place
            for place, one in enumerate(self.past)
            if isinstance(one, Ended) or (isinstance(one, WindowAnswered) and one.disproven)
        ]
        return self.past[ends[-1] + 1 if ends else 0 :]

    def last_good_s(self) -> float:
        """Look back to the last time that anything spoke for the user."""
        good = [
            one.at_s
            for one in self.past
            if isinstance(one, GrantReceived)
            or (isinstance(one, WindowAnswered) and (one.proven or one.answer.decision == "accept"))
        ]
        return good[-1] if good else -inf


class StrictMachine(LockMachine):
    policy = STRICT


class HeartbeatMachine(LockMachine):
    policy = COMFORTABLE.opened_by("heartbeat")


FAST = settings(max_examples=150, stateful_step_count=40)
THOROUGH = settings(max_examples=1000, stateful_step_count=60)

TestLock = LockMachine.TestCase
TestLock.settings = FAST
TestStrictLock = StrictMachine.TestCase
TestStrictLock.settings = FAST
TestHeartbeatLock = HeartbeatMachine.TestCase
TestHeartbeatLock.settings = FAST


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("machine", [LockMachine, StrictMachine, HeartbeatMachine])
def test_thousands_of_runs(machine: type[LockMachine]) -> None:
    run_state_machine_as_test(machine, settings=THOROUGH)
