"""A session from samples to locked or unlocked. Whose heartbeat it is, the test says."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acclock.errors import ModelError, SignalError
from acclock.live.chunks import BreakReason
from acclock.live.grants import Grant
from acclock.live.policies import BALANCED, STRICT
from acclock.live.session import Embed, Session
from acclock.live.session_state import SessionState, name_changes
from acclock.live.stream_analyzer import prepare_chunks
from acclock.matching.cohort import Cohort
from acclock.matching.template import Template
from acclock.pipeline import Preparation
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import BoolArray, FloatArray

CHUNK = 25
FOREVER = Grant(person="anna", expires_s=1e9)

Open = Callable[..., Session]


@cache
def worn(duration_s: float = 60.0, removed_at_s: float | None = None) -> FloatArray:
    scene = Scene(duration_s=duration_s, removed_at_s=removed_at_s)
    return simulate(draw_person(2, seed=31), scene, seed=31).recording.samples


class Stream:
    """Pushes samples in real time and remembers how the session stood."""

    def __init__(self, session: Session) -> None:
        self.session, self.now_s = session, 0.0
        self.session_states: list[SessionState] = [session.session_state]

    def play(self, samples: FloatArray, received: BoolArray | None = None) -> SessionState:
        arrived = np.ones(samples.shape[1], bool) if received is None else received
        for start in range(0, samples.shape[1], CHUNK):
            part = slice(start, start + CHUNK)
            self.now_s += CHUNK / 100.0
            self.session_states += self.session.push(samples[:, part], arrived[part], self.now_s)
        return self.session_states[-1]

    def open(self) -> SessionState:
        """Wear it quietly, bring a grant, and wait until the heartbeat has confirmed it."""
        self.play(worn()[:, :1000])
        self.session.grant(FOREVER, self.now_s)
        return self.play(worn()[:, 1000:3000])

    @property
    def ever_unlocked(self) -> bool:
        return any(session_state.unlocked for session_state in self.session_states)

    def locked_at_s(self) -> float:
        pairs = zip(self.session_states, self.session_states[1:], strict=False)
        return next(after.at_s for before, after in pairs if before.unlocked > after.unlocked)


@pytest.fixture
def stream(open_session: Open) -> Stream:
    return Stream(open_session())


def test_without_a_grant_nothing_opens(stream: Stream) -> None:
    stream.play(worn())

    assert not stream.ever_unlocked
    assert stream.session_states[-1].decision == "accept"


def test_a_grant_opens_and_the_heartbeat_confirms(stream: Stream) -> None:
    session_state = stream.open()

    assert session_state.unlocked
    assert (session_state.reason.value, session_state.confirmed, session_state.confidence) == (
        "user",
        True,
        "high",
    )


def test_a_grant_for_somebody_else_opens_nothing(stream: Stream) -> None:
    stream.play(worn()[:, :1000])

    stream.session.grant(Grant(person="ben", expires_s=1e9), stream.now_s)

    assert not stream.play(worn()[:, 1000:]).unlocked


def test_a_grant_waits_for_somebody_to_wear_the_earphone(stream: Stream) -> None:
    stream.session.grant(FOREVER, 0.0)

    stream.play(worn()[:, :700])
    assert not stream.ever_unlocked
    assert stream.play(worn()[:, 700:1000]).unlocked


def test_a_stranger_is_revoked_within_ten_seconds(
    stream: Stream, wearer: "Embed", stranger: FloatArray
) -> None:
    stream.open()
    changed_s = stream.now_s

    wearer.direction = stranger  # type: ignore[attr-defined]
    session_state = stream.play(worn()[:, 3000:])

    assert (session_state.state, stream.session_states[-1].reason.value) == ("locked", "stranger")
    assert stream.locked_at_s() - changed_s <= 10.0


def test_a_stranger_with_the_owners_grant_is_not_confirmed(
    stream: Stream, wearer: "Embed", stranger: FloatArray
) -> None:
    wearer.direction = stranger  # type: ignore[attr-defined]

    session_state = stream.open()

    assert not session_state.unlocked
    assert not any(session_state.confirmed for session_state in stream.session_states)


def test_a_wearing_of_its_own_is_held_to_itself(
    stream: Stream, wearer: "Embed", user: FloatArray
) -> None:
    off = user.copy()
    off[3] = 0.25  # another wearing lies off the template
    wearer.direction = off  # type: ignore[attr-defined]

    stream.open()
    assert stream.play(worn()[:, 3000:]).unlocked
    assert stream.session.wearing is not None
    assert stream.session.wearing.center @ (off / np.linalg.norm(off)) > 0.99


def test_removal_locks_within_two_seconds_and_for_good(open_session: Open) -> None:
    stream = Stream(open_session())
    samples = worn(60.0, 40.0)
    stream.play(samples[:, :1000])
    stream.session.grant(FOREVER, stream.now_s)

    stream.play(samples[:, 1000:])
    later = stream.play(worn())

    assert 40.0 < stream.locked_at_s() <= 42.0
    assert not later.unlocked
    assert "removed" in {session_state.reason.value for session_state in stream.session_states}


def test_no_window_that_ends_in_a_hand_speaks_for_the_user(open_session: Open) -> None:
    # to the encoder every window is the user's here, whatever it holds
    stream = Stream(open_session())
    samples = worn(60.0, 40.2)
    stream.play(samples[:, :1000])
    stream.session.grant(FOREVER, stream.now_s)
    stream.play(samples[:, 1000:4000])

    renewed_s = stream.session.lock.renewed_s
    stream.play(samples[:, 4000:])

    assert renewed_s == 40.0
    # the window that ended at 40.0 counts at 40.5; those that ended later never do
    assert stream.session.lock.renewed_s <= 40.5


@pytest.mark.parametrize(("lost_s", "unlocked"), [(0.4, True), (1.2, False)])
def test_a_gap_of_more_than_a_second_locks(stream: Stream, lost_s: float, unlocked: bool) -> None:
    stream.open()
    received = np.ones(1000, dtype=bool)
    received[200 : 200 + round(100 * lost_s)] = False

    assert stream.play(worn()[:, 3000:4000], received).unlocked is unlocked


def test_silence_locks(stream: Stream) -> None:
    stream.open()

    assert stream.session.tick(stream.now_s + 0.9).unlocked
    session_state = stream.session.tick(stream.now_s + 1.1)

    assert (session_state.state, session_state.reason.value) == ("locked", "stalled")


def test_a_packet_loss_above_the_cap_locks(stream: Stream) -> None:
    stream.open()
    received = np.arange(1500) % 10 < 6

    session_state = stream.play(worn()[:, 3000:4500], received)

    assert not session_state.unlocked
    assert "loss" in {one.reason.value for one in stream.session_states}


@pytest.mark.parametrize("reason", ["disconnect", "removed", "end", "stall", "garbage"])
def test_a_break_locks_until_the_next_grant(stream: Stream, reason: BreakReason) -> None:
    stream.open()

    assert not stream.session.break_off(reason, stream.now_s).unlocked
    assert not stream.play(worn()[:, 3000:4500]).unlocked
    stream.session.grant(FOREVER, stream.now_s)
    assert stream.session.session_state.unlocked


def test_a_deleted_person_is_forgotten(stream: Stream) -> None:
    stream.open()

    stream.session.forget(stream.now_s)
    stream.session.grant(FOREVER, stream.now_s)
    session_state = stream.play(worn()[:, :2000])

    assert (session_state.state, session_state.reason.value) == ("locked", "forgotten")
    assert stream.session.wearing is None


@pytest.mark.parametrize("now_s", [float("nan"), float("inf"), 3.0])
def test_a_time_that_is_no_time_locks(stream: Stream, now_s: float) -> None:
    stream.open()

    session_state = stream.session.tick(now_s)

    assert (session_state.state, session_state.reason.value) == ("locked", "clock")


def test_a_shake_locks_and_the_same_wearing_resumes(stream: Stream) -> None:
    stream.open()
    shaken = worn()[:, 3000:3200] + np.random.default_rng(0).normal(0.0, 6.0, (3, 200))

    assert stream.play(shaken).reason.value == "handled"
    assert stream.play(worn()[:, 3200:5000]).unlocked


def test_a_shake_does_not_hand_the_session_over(
    stream: Stream, wearer: "Embed", stranger: FloatArray
) -> None:
    stream.open()
    shaken = worn()[:, 3000:3200] + np.random.default_rng(0).normal(0.0, 6.0, (3, 200))
    stream.play(shaken)

    wearer.direction = stranger  # type: ignore[attr-defined]

    assert not stream.play(worn()[:, 3200:]).unlocked


def test_the_heartbeat_alone_opens_where_that_was_chosen(open_session: Open) -> None:
    stream = Stream(open_session(BALANCED.opened_by("heartbeat")))

    stream.play(worn())

    opened_s = next(
        session_state.at_s for session_state in stream.session_states if session_state.unlocked
    )
    assert 37.0 <= opened_s <= 45.0


@pytest.mark.parametrize("late_s", [1.5, 3.0])
def test_an_answer_that_comes_too_late_locks(
    stream: Stream, wearer: "Embed", late_s: float
) -> None:
    stream.open()
    asked = stream.session.listen(worn()[:, 3000:3050], np.ones(50, dtype=bool), stream.now_s + 0.5)

    embedding = wearer(asked[0].samples[np.newaxis])[0]
    session_state = stream.session.hear(asked[0], embedding, stream.now_s + 0.5 + late_s)

    assert (session_state.state, session_state.reason.value) == ("locked", "stale")


def test_an_answer_about_an_earlier_wearing_counts_for_nothing(
    stream: Stream, wearer: "Embed"
) -> None:
    stream.open()
    asked = stream.session.listen(worn()[:, 3000:3050], np.ones(50, dtype=bool), stream.now_s + 0.5)
    stream.session.break_off("disconnect", stream.now_s + 0.5)
    before = stream.session.wearing

    stream.session.hear(asked[0], wearer(asked[0].samples[np.newaxis])[0], stream.now_s + 0.6)

    assert stream.session.wearing is before


def test_gathered_windows_say_what_pushed_ones_say(open_session: Open, user: FloatArray) -> None:
    def embed_alike(windows: FloatArray) -> FloatArray:
        return np.repeat(user[np.newaxis], len(windows), axis=0)

    pushed, gathered = open_session(), open_session()
    pushed._embed = embed_alike
    for start in range(0, 3000, CHUNK):
        now_s, part = (start + CHUNK) / 100.0, worn()[:, start : start + CHUNK]
        for session in (pushed, gathered):
            session.grant(FOREVER, now_s)
        pushed.push(part, np.ones(CHUNK, bool), now_s)
        for pending_window in gathered.listen(part, np.ones(CHUNK, bool), now_s):
            gathered.hear(pending_window, user, now_s)

    assert pushed.session_state == gathered.session_state
    assert pushed.session_state.unlocked


def test_sessions_that_are_looked_at_together_stand_as_if_alone(
    open_session: Open, user: FloatArray
) -> None:
    streams = [worn()[:, :3000], worn(removed_at_s=20.0)[:, :3000], worn()[:, 1500:4500]]
    alone, together = ([open_session() for _ in streams] for _ in range(2))
    arrived = np.ones(CHUNK, bool)

    for start in range(0, 3000, CHUNK):
        now_s, parts = (start + CHUNK) / 100.0, [one[:, start : start + CHUNK] for one in streams]
        for session in (*alone, *together):
            session.grant(FOREVER, now_s)
        for session, part in zip(alone, parts, strict=True):
            for pending_window in session.listen(part, arrived, now_s):
                session.hear(pending_window, user, now_s)
        heard = [
            session.collect(part, arrived, now_s)
            for session, part in zip(together, parts, strict=True)
        ]
        found = [one for one in heard if one is not None]
        for session, one, seen in zip(together, found, prepare_chunks(found), strict=True):
            for pending_window in session.conclude(one, seen, now_s):
                session.hear(pending_window, user, now_s)

        for session, other in zip(alone, together, strict=True):
            assert stand(session) == stand(other)

    assert [session.session_state.unlocked for session in together] == [True, False, True]


def test_sessions_of_different_models_are_looked_at_together_as_if_alone(
    open_session: Open, user: FloatArray
) -> None:
    rates_hz = (100.0, 25.0, 100.0, 50.0)
    alone, together = ([open_session(rate_hz=hz) for hz in rates_hz] for _ in range(2))

    for now_s in np.arange(0.2, 30.0, 0.2):
        ends = [(round(hz * (now_s - 0.2)), round(hz * now_s), round(100 / hz)) for hz in rates_hz]
        parts = [worn()[:, ::step][:, start:end] for start, end, step in ends]
        for session in (*alone, *together):
            session.grant(FOREVER, now_s)
        for session, part in zip(alone, parts, strict=True):
            for pending_window in session.listen(part, np.ones(part.shape[1], bool), now_s):
                session.hear(pending_window, user, now_s)
        heard = [
            session.collect(part, np.ones(part.shape[1], bool), now_s)
            for session, part in zip(together, parts, strict=True)
        ]
        found = [one for one in heard if one is not None]
        for session, one, seen in zip(together, found, prepare_chunks(found), strict=True):
            for pending_window in session.conclude(one, seen, now_s):
                session.hear(pending_window, user, now_s)

        assert list(map(stand, alone)) == list(map(stand, together))

    assert all(session.session_state.unlocked for session in together)


def stand(session: Session) -> tuple[object, ...]:
    session_state = session.session_state
    return (
        session_state.state,
        session_state.reason,
        session_state.answer.reason,
        session_state.confidence,
    )


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.05, 0.5, 0.9, 5.0, -0.5, float("nan")]),
            st.integers(0, 60),
            st.sampled_from([0.0, 9.81, 1e9, -1e300, float("nan"), float("inf")]),
        ),
        max_size=30,
    )
)
def test_garbage_neither_raises_nor_opens(
    template: Template,
    cohort: Cohort,
    user: FloatArray,
    chunks: list[tuple[float, int, float]],
) -> None:
    session = Session(
        template, cohort, Preparation(), lambda w: np.tile(user, (len(w), 1)), STRICT, person="anna"
    )
    now_s = 0.0
    for passed_s, count, value in chunks:
        now_s = now_s + passed_s
        session.grant(FOREVER, now_s)
        session.push(np.full((3, count), value), np.ones(count, dtype=bool), now_s)
        now_s = now_s if np.isfinite(now_s) else 0.0

        assert not session.session_state.unlocked


def test_samples_of_the_wrong_shape_are_a_mistake_of_the_caller(open_session: Open) -> None:
    with pytest.raises(SignalError):
        open_session().push(np.zeros((2, 5)), np.ones(5, dtype=bool), 0.0)


def test_a_cohort_of_another_model_is_refused(template: Template, cohort: Cohort) -> None:
    other = Cohort(embeddings=cohort.embeddings, model="other")

    with pytest.raises(ModelError):
        Session(template, other, Preparation(), lambda windows: windows[:, 0], person="anna")


def test_changes_are_named_once(stream: Stream, wearer: "Embed", stranger: FloatArray) -> None:
    stream.open()
    wearer.direction = stranger  # type: ignore[attr-defined]
    stream.play(worn()[:, 3000:])

    pairs = zip(stream.session_states, stream.session_states[1:], strict=False)
    kinds = [kind for before, after in pairs for kind in name_changes(before, after)]

    assert kinds[:2] == ["unlocked", "confidence"]
    assert kinds[-1] == "locked"
    assert kinds.count("locked") == kinds.count("unlocked") == 1
