"""A whole session, without signals: never unlocked after removal, deletion, lockout or silence.

The model knows three things: when a grant was last good for something, when the session last
heard anything, and whether the person still exists.
"""

from datetime import UTC, datetime
from math import inf

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from acclock.denoising.heart_rate import HeartRate
from acclock.denoising.quality import WindowQuality
from acclock.live.answers import Reason
from acclock.live.chunks import BreakReason
from acclock.live.grants import Grant
from acclock.live.policies import BALANCED, STRICT, Policy
from acclock.live.session import Session
from acclock.live.stream_analyzer import ChunkResult, PendingWindow
from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import enroll
from acclock.pipeline import Preparation
from acclock.values import FloatArray

CHANCE = np.random.default_rng(11)
USER, STRANGER = np.eye(8)[0], np.eye(8)[1]


def around(direction: FloatArray, count: int) -> FloatArray:
    rows = direction + 0.08 * CHANCE.standard_normal((count, 8))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


COHORT = Cohort(embeddings=np.vstack([around(np.eye(8)[n], 10) for n in range(2, 8)]), model="m")
TEMPLATE = enroll(around(USER, 40), cohort=COHORT, now=datetime(2025, 1, 6, tzinfo=UTC))
GOOD = WindowQuality(
    heart_rate=HeartRate(bpm=70.0, clarity=0.9, needed_clarity=0.3, rms=0.1),
    regularity=0.9,
    beat_to_noise_db=10.0,
    fluctuation=1.0,
    saturated_share=0.0,
    missing_share=0.0,
    disturbance="none",
)
BREAKS: list[BreakReason] = ["disconnect", "removed", "end", "stall", "garbage"]


class SessionMachine(RuleBasedStateMachine):
    policy: Policy = BALANCED

    def __init__(self) -> None:
        super().__init__()
        self.session = Session(
            TEMPLATE, COHORT, Preparation(), lambda w: w[:, 0], self.policy, person="anna"
        )
        self.now_s = 0.0
        self.granted = False
        self.received_s = -inf
        self.exists = True

    def listen(self, direction: FloatArray | None, *, lively: bool = False) -> None:
        self.now_s += self.policy.step_s
        pending_window = PendingWindow(
            samples=np.zeros((3, 400)),
            quality=GOOD,
            at_s=self.now_s,
            wearing=self.session._analyzer.wearing,
            lively=lively,
        )
        asked = self.session.take(ChunkResult(pending_windows=(pending_window,)), self.now_s)
        self.received_s = self.now_s
        if direction is not None:
            for one in asked:
                self.session.hear(one, around(direction, 1)[0], self.now_s)

    def drop(self) -> None:
        """Note that only something new may open from here on."""
        self.granted = False

    def fall_silent(self) -> None:
        """Note that the wearing is over: a grant that comes now waits for the next one."""
        self.drop()
        self.received_s = -inf

    @rule(times=st.sampled_from([1, 5, 40, 80]), lively=st.booleans())
    def wear_it(self, times: int, lively: bool) -> None:
        for _ in range(times):
            self.listen(USER, lively=lively)

    @rule(times=st.sampled_from([1, 5, 40]))
    def let_a_stranger_wear_it(self, times: int) -> None:
        for _ in range(times):
            self.listen(STRANGER)
        if times == 40:  # twenty seconds
            self.drop()
            assert not self.session.session_state.unlocked

    @rule()
    def let_strangers_try(self) -> None:
        """Let one after another wear it, until the heartbeat alone opens nothing any more."""
        if not self.exists:
            return
        for _ in range(self.policy.episodes):
            self.let_a_stranger_wear_it(40)
            self.end(Reason.REMOVED)
        if self.policy.entry == "heartbeat":
            assert self.session.session_state.lockout_s > 0.0

    @rule()
    def startle(self) -> None:
        """Something begins that may be a hand: nothing opens, and nothing is renewed by it."""
        before = self.session.lock
        self.session.take(ChunkResult(unsettled=True), self.now_s)
        self.received_s = self.now_s
        after = self.session.lock
        assert after.unlocked <= before.unlocked
        assert after.renewed_s == before.renewed_s

    @rule(lasts_s=st.sampled_from([5.0, 30.0, 1e6]))
    def grant(self, lasts_s: float) -> None:
        self.session.grant(Grant(person="anna", expires_s=self.now_s + lasts_s), self.now_s)
        self.granted = self.exists

    @rule(lasts_s=st.sampled_from([5.0, 1e6]))
    def grant_to_somebody_else(self, lasts_s: float) -> None:
        before = self.session.lock
        self.session.grant(Grant(person="ben", expires_s=self.now_s + lasts_s), self.now_s)
        assert self.session.lock.state == before.state or not self.session.lock.unlocked

    @rule(reason=st.sampled_from([Reason.REMOVED, Reason.GAP, Reason.LOSS, Reason.STALE]))
    def end(self, reason: Reason) -> None:
        self.session.take(ChunkResult(ended=reason), self.now_s)
        self.fall_silent()
        assert not self.session.session_state.unlocked

    @rule(reason=st.sampled_from(BREAKS))
    def break_off(self, reason: BreakReason) -> None:
        self.session.break_off(reason, self.now_s)
        self.fall_silent()
        assert not self.session.session_state.unlocked

    @rule()
    def shake(self) -> None:
        self.session.take(ChunkResult(shaken=True), self.now_s)
        self.received_s = self.now_s
        assert not self.session.session_state.unlocked

    @rule(passed_s=st.sampled_from([0.1, 0.5, 0.9, 1.5, 70.0]))
    def tick(self, passed_s: float) -> None:
        self.now_s += passed_s
        self.session.tick(self.now_s)
        if self.now_s - self.received_s > self.policy.stall_s and self.received_s > -inf:
            self.fall_silent()
            assert not self.session.session_state.unlocked

    @rule(now_s=st.sampled_from([float("nan"), float("inf"), -5.0]))
    def go_back_in_time(self, now_s: float) -> None:
        self.session.tick(now_s)
        self.fall_silent()
        assert not self.session.session_state.unlocked

    @rule(sure=st.sampled_from([False] * 9 + [True]))
    def forget(self, sure: bool) -> None:
        if sure:
            self.session.forget(self.now_s)
            self.exists = False
            self.fall_silent()

    @invariant()
    def unlocked_has_a_reason(self) -> None:
        if self.session.session_state.unlocked:
            assert self.exists
            assert self.granted or self.policy.entry == "heartbeat"
            assert self.now_s - self.received_s <= self.policy.stall_s

    @invariant()
    def lockout_is_kept(self) -> None:
        session_state = self.session.session_state
        assert not (session_state.unlocked and session_state.lockout_s > 0.0)


class HeartbeatSessionMachine(SessionMachine):
    policy = STRICT.opened_by("heartbeat")


FAST = settings(max_examples=20, stateful_step_count=20)
THOROUGH = settings(max_examples=400, stateful_step_count=30)

TestSession = SessionMachine.TestCase
TestSession.settings = FAST
TestHeartbeatSession = HeartbeatSessionMachine.TestCase
TestHeartbeatSession.settings = FAST


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("machine", [SessionMachine, HeartbeatSessionMachine])
def test_thousands_of_runs(machine: type[SessionMachine]) -> None:
    run_state_machine_as_test(machine, settings=THOROUGH)
