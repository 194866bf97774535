"""A monitor over simulated wearers: what opens, what stays open, and what locks."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from math import inf

import pytest

from acclock.demo.demonstration import play_story
from acclock.errors import GrantError, ModelError, MonitorError, TaskFailedError
from acclock.live.chunks import Chunk
from acclock.live.grants import Grant
from acclock.live.policies import BALANCED, STRICT, Policy
from acclock.matching.enrollment import enroll
from acclock.matching.template import Template
from acclock.models.catalog import ModelCatalog
from acclock.monitor.enrolled_user import EnrolledUser
from acclock.monitor.monitor import Monitor
from acclock.monitor.recorder import EventRecorder, record_events
from acclock.recognizer import Recognizer
from acclock.simulation import Scene, draw_person, simulate
from acclock.sources.simulator import SimulatorSource
from acclock.sources.source import Faults, Source, Stream

WORN_S = 12.0


class Watched:
    """A monitor over anna, with a grant brought after some time, and all that was told."""

    def __init__(
        self, recognizer: Recognizer, source: str | Source, *, policy: Policy = BALANCED
    ) -> None:
        self._source = SimulatorSource(source, speed=inf) if isinstance(source, str) else source
        self._user, self._policy = EnrolledUser(recognizer, "anna"), policy
        self._visits: list[asyncio.Task[None]] = []
        self.recorder = EventRecorder(datetime.now(UTC))
        self.monitor: Monitor | None = None

    def run(
        self, *, grant_after_s: float | None = None, then: Callable[[], object] = lambda: None
    ) -> EventRecorder:
        def ready(monitor: Monitor, recorder: EventRecorder) -> None:
            self.monitor, self.recorder = monitor, recorder
            if grant_after_s is not None:
                visit = self._bring_grant(monitor, grant_after_s, then)
                self._visits.append(asyncio.create_task(visit))

        return asyncio.run(
            record_events(self._user, self._source, policy=self._policy, on_ready=ready)
        )

    @property
    def kinds(self) -> list[str]:
        events = (moment.event for moment in self.recorder.events)
        return [event.kind for event in events if event is not None]

    async def _bring_grant(
        self, monitor: Monitor, after_s: float, then: Callable[[], object]
    ) -> None:
        end_s = self._source.now_s() + after_s
        while self._source.now_s() < end_s:
            await asyncio.sleep(0)
        monitor.grant(Grant(person="anna", expires_s=inf))
        then()


class Worn:
    """Plays some seconds of a wearer at once, and then does what it is told."""

    name = "worn"
    rate_hz = 100.0

    def __init__(self, then: Callable[[], Stream]) -> None:
        self.faults = Faults()
        self._played = SimulatorSource(f"wear person-000 {WORN_S} s", speed=inf)
        self._then = then
        self._ended_s: float | None = None

    def now_s(self) -> float:
        """Follow the clock of what is played, and then the one on the wall."""
        if self._ended_s is None:
            return self._played.now_s()
        return self._played.now_s() + asyncio.get_running_loop().time() - self._ended_s

    async def stream(self) -> Stream:
        async for piece in self._played.stream():
            if isinstance(piece, Chunk):
                yield piece
        self._ended_s = asyncio.get_running_loop().time()
        async for piece in self._then():
            yield piece


def test_the_owner_and_nobody_else_has_the_session_open(recognizer: Recognizer) -> None:
    story = play_story(recognizer, "anna", owner="person-000", stranger="person-001", seed=0)

    assert story.opened_after_s is not None
    assert story.open_after_the_walk
    assert story.locked_after_s is not None
    assert story.locked_after_s <= 2.0
    assert story.open_for_the_stranger_s == 0.0
    assert story.opened_again_after_s is not None
    assert story.ends_well


def test_handing_it_to_a_stranger_locks(recognizer: Recognizer) -> None:
    watched = Watched(
        recognizer,
        "wear person-000 60 s, wear person-001 30 s",
        policy=BALANCED.opened_by("heartbeat"),
    )

    recorder = watched.run()

    assert recorder.open_s(0.0, 60.0) > 0.0
    assert recorder.open_s(62.0, 90.0) == 0.0


def test_a_disconnect_locks_and_nothing_resumes_by_itself(recognizer: Recognizer) -> None:
    watched = Watched(recognizer, "wear person-000 15 s, disconnect 2 s, wear person-000 15 s")

    recorder = watched.run(grant_after_s=9.0)

    opened, locked = recorder.changes()
    assert (opened.state, locked.state) == ("unlocked", "locked")
    assert locked.at_s == pytest.approx(15.0, abs=0.2)
    assert locked.status.reason == "the earphone is disconnected"
    assert watched.kinds == ["started", "unlocked", "locked", "stopped"]


def test_a_grant_that_no_heartbeat_confirms_does_not_last(recognizer: Recognizer) -> None:
    """A stranger who has the owner's other factor is not let stay for long."""
    recorder = Watched(recognizer, "wear person-001 60 s", policy=STRICT).run(grant_after_s=9.0)

    assert 0.0 < recorder.open_s(0.0, 60.0) <= STRICT.confirm_s + 0.5


def test_silence_locks_although_nothing_arrives(recognizer: Recognizer) -> None:
    async def say_nothing() -> Stream:
        await asyncio.sleep(2.5)
        watched.monitor.stop()  # type: ignore[union-attr]
        await asyncio.Event().wait()
        yield  # type: ignore[misc]  # never reached; it makes this a stream

    watched = Watched(recognizer, Worn(say_nothing))

    opened, locked = watched.run(grant_after_s=9.0).changes()

    assert opened.state == "unlocked"
    assert locked.status.reason == "no samples arrive"
    assert watched.kinds[-1] == "stopped"


def test_whatever_fails_locks_first_and_is_one_sentence(
    recognizer: Recognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acclock.monitor.monitor._MOST_FAILURES", 1)

    async def fail() -> Stream:
        raise RuntimeError("a secret of the source")
        yield

    watched = Watched(recognizer, Worn(fail))

    with pytest.raises(TaskFailedError, match="met an unexpected RuntimeError") as caught:
        watched.run(grant_after_s=9.0)

    assert watched.kinds[-3:] == ["unlocked", "locked", "stopped"]
    assert watched.recorder.moments[-1].state == "locked"
    assert "secret" not in str(caught.value)


def test_nothing_opens_after_the_end(recognizer: Recognizer) -> None:
    watched = Watched(recognizer, "wear person-000 10 s")
    watched.run()

    assert watched.monitor is not None
    with pytest.raises(GrantError, match="ending"):
        watched.monitor.grant(Grant(person="anna", expires_s=inf))


def test_deleting_the_person_locks_for_good(recognizer: Recognizer) -> None:
    watched = Watched(recognizer, "wear person-000 20 h")

    with pytest.raises(MonitorError, match="anna is no longer in the vault"):
        watched.run(grant_after_s=9.0, then=lambda: recognizer.vault.remove("anna"))

    last = watched.recorder.events[-2:]
    assert [moment.state for moment in last] == ["locked", "locked"]
    assert last[0].status.reason == "the user is no longer known"


def test_a_light_enrollment_grows_while_it_is_worn(
    recognizer: Recognizer, enrolled: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acclock.monitor.monitor._LOOK_S", 0.05)
    light = replace(enrolled, goal=enrolled.windows + 10)
    recognizer.vault.revise("anna", light, after=1)
    watched = Watched(recognizer, "wear person-000 600 s", policy=BALANCED.opened_by("heartbeat"))

    watched.run()

    assert watched.kinds.count("template") == 1
    assert recognizer.vault.template("anna").windows == enrolled.windows + 10
    assert recognizer.vault.events()[-1].kind == "grown"


def test_a_template_that_is_carried_over_meanwhile_is_followed_when_at_rest(
    recognizer: Recognizer, carried: Template
) -> None:
    watched = Watched(recognizer, "wear person-000 500 s")
    recognizer.vault.revise("anna", carried, after=1, kind="migrated")

    recorder = watched.run(grant_after_s=400.0)

    assert watched.monitor is not None
    assert watched.monitor._model.name == "default-50"
    assert recorder.open_s(400.0, 500.0) > 60.0


def test_a_template_of_a_model_that_is_not_here_locks_and_ends_the_monitor(
    recognizer: Recognizer,
) -> None:
    unknown = replace(recognizer.vault.template("anna"), model="0" * 64)
    watched = Watched(recognizer, "wear person-000 5 h")

    with pytest.raises(ModelError, match="acclock migrate"):
        watched.run(
            grant_after_s=9.0, then=lambda: recognizer.vault.revise("anna", unknown, after=1)
        )

    assert watched.kinds[-2:] == ["locked", "stopped"]


@pytest.fixture(scope="module")
def carried() -> Template:
    """The template of person-000 as the model of 50 Hz knows them."""
    worn = simulate(draw_person(0), Scene(duration_s=360.0), seed=0).recording
    model = ModelCatalog().named("default-50")
    return enroll(model.observe(worn).good, cohort=model.cohort, now=datetime.now(UTC))
