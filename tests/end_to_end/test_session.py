"""A monitor over simulated wearers: what opens, what stays open, and what locks."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from math import inf

import pytest

from acclock.errors import GrantError, ModelError, MonitorError, TaskFailedError
from acclock.matching.enrollment import enroll
from acclock.matching.template import Template
from acclock.session.chunks import Chunk
from acclock.session.grants import Grant
from acclock.session.policies import BALANCED, STRICT, Policy
from acclock.simulation import Scene, draw_person, simulate
from acclock.world.desk import Desk
from acclock.world.models.catalog import ModelCatalog
from acclock.world.monitoring.chronicle import Chronicle, write_chronicle
from acclock.world.monitoring.monitor import Monitor
from acclock.world.monitoring.ward import Ward
from acclock.world.sources.simulator import SimulatorSource
from acclock.world.sources.source import Faults, Source, Stream
from acclock.world.story import tell_story

WORN_S = 12.0


class Watched:
    """A monitor over anna, with a grant brought after some time, and all that was told."""

    def __init__(self, desk: Desk, source: str | Source, *, policy: Policy = BALANCED) -> None:
        self._source = SimulatorSource(source, speed=inf) if isinstance(source, str) else source
        self._ward, self._policy = Ward(desk, "anna"), policy
        self._visits: list[asyncio.Task[None]] = []
        self.chronicle = Chronicle(datetime.now(UTC))
        self.monitor: Monitor | None = None

    def run(
        self, *, grant_after_s: float | None = None, then: Callable[[], object] = lambda: None
    ) -> Chronicle:
        def ready(monitor: Monitor, chronicle: Chronicle) -> None:
            self.monitor, self.chronicle = monitor, chronicle
            if grant_after_s is not None:
                visit = self._bring_grant(monitor, grant_after_s, then)
                self._visits.append(asyncio.create_task(visit))

        return asyncio.run(
            write_chronicle(self._ward, self._source, policy=self._policy, on_ready=ready)
        )

    @property
    def kinds(self) -> list[str]:
        events = (moment.event for moment in self.chronicle.events)
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


def test_the_owner_and_nobody_else_has_the_session_open(desk: Desk) -> None:
    story = tell_story(desk, "anna", owner="person-000", stranger="person-001", seed=0)

    assert story.opened_after_s is not None
    assert story.open_after_the_walk
    assert story.locked_after_s is not None
    assert story.locked_after_s <= 2.0
    assert story.open_for_the_stranger_s == 0.0
    assert story.opened_again_after_s is not None
    assert story.ends_well


def test_handing_it_to_a_stranger_locks(desk: Desk) -> None:
    watched = Watched(
        desk, "wear person-000 60 s, wear person-001 30 s", policy=BALANCED.opened_by("heartbeat")
    )

    chronicle = watched.run()

    assert chronicle.open_s(0.0, 60.0) > 0.0
    assert chronicle.open_s(62.0, 90.0) == 0.0


def test_a_disconnect_locks_and_nothing_resumes_by_itself(desk: Desk) -> None:
    watched = Watched(desk, "wear person-000 15 s, disconnect 2 s, wear person-000 15 s")

    chronicle = watched.run(grant_after_s=9.0)

    opened, locked = chronicle.changes()
    assert (opened.state, locked.state) == ("unlocked", "locked")
    assert locked.at_s == pytest.approx(15.0, abs=0.2)
    assert locked.status.reason == "the earphone is disconnected"
    assert watched.kinds == ["started", "unlocked", "locked", "stopped"]


def test_a_grant_that_no_heartbeat_confirms_does_not_last(desk: Desk) -> None:
    """A stranger who has the owner's other factor is not let stay for long."""
    chronicle = Watched(desk, "wear person-001 60 s", policy=STRICT).run(grant_after_s=9.0)

    assert 0.0 < chronicle.open_s(0.0, 60.0) <= STRICT.confirm_s + 0.5


def test_silence_locks_although_nothing_arrives(desk: Desk) -> None:
    async def say_nothing() -> Stream:
        await asyncio.sleep(2.5)
        watched.monitor.stop()  # type: ignore[union-attr]
        await asyncio.Event().wait()
        yield  # type: ignore[misc]  # never reached; it makes this a stream

    watched = Watched(desk, Worn(say_nothing))

    opened, locked = watched.run(grant_after_s=9.0).changes()

    assert opened.state == "unlocked"
    assert locked.status.reason == "no samples arrive"
    assert watched.kinds[-1] == "stopped"


def test_whatever_fails_locks_first_and_is_one_sentence(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acclock.world.monitoring.monitor._MOST_FAILURES", 1)

    async def fail() -> Stream:
        raise RuntimeError("a secret of the source")
        yield

    watched = Watched(desk, Worn(fail))

    with pytest.raises(TaskFailedError, match="met an unexpected RuntimeError") as caught:
        watched.run(grant_after_s=9.0)

    assert watched.kinds[-3:] == ["unlocked", "locked", "stopped"]
    assert watched.chronicle.moments[-1].state == "locked"
    assert "secret" not in str(caught.value)


def test_nothing_opens_after_the_end(desk: Desk) -> None:
    watched = Watched(desk, "wear person-000 10 s")
    watched.run()

    assert watched.monitor is not None
    with pytest.raises(GrantError, match="ending"):
        watched.monitor.grant(Grant(person="anna", expires_s=inf))


def test_deleting_the_person_locks_for_good(desk: Desk) -> None:
    watched = Watched(desk, "wear person-000 20 h")

    with pytest.raises(MonitorError, match="anna is no longer in the vault"):
        watched.run(grant_after_s=9.0, then=lambda: desk.vault.remove("anna"))

    last = watched.chronicle.events[-2:]
    assert [moment.state for moment in last] == ["locked", "locked"]
    assert last[0].status.reason == "the user is no longer known"


def test_a_light_enrollment_grows_while_it_is_worn(
    desk: Desk, enrolled: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acclock.world.monitoring.monitor._LOOK_S", 0.05)
    light = replace(enrolled, goal=enrolled.windows + 10)
    desk.vault.revise("anna", light, after=1)
    watched = Watched(desk, "wear person-000 600 s", policy=BALANCED.opened_by("heartbeat"))

    watched.run()

    assert watched.kinds.count("template") == 1
    assert desk.vault.template("anna").windows == enrolled.windows + 10
    assert desk.vault.events()[-1].kind == "grown"


def test_a_template_that_is_carried_over_meanwhile_is_followed_when_at_rest(
    desk: Desk, carried: Template
) -> None:
    watched = Watched(desk, "wear person-000 500 s")
    desk.vault.revise("anna", carried, after=1, kind="migrated")

    chronicle = watched.run(grant_after_s=400.0)

    assert watched.monitor is not None
    assert watched.monitor._model.name == "default-50"
    assert chronicle.open_s(400.0, 500.0) > 60.0


def test_a_template_of_a_model_that_is_not_here_locks_and_ends_the_monitor(desk: Desk) -> None:
    unknown = replace(desk.vault.template("anna"), model="0" * 64)
    watched = Watched(desk, "wear person-000 5 h")

    with pytest.raises(ModelError, match="acclock migrate"):
        watched.run(grant_after_s=9.0, then=lambda: desk.vault.revise("anna", unknown, after=1))

    assert watched.kinds[-2:] == ["locked", "stopped"]


@pytest.fixture(scope="module")
def carried() -> Template:
    """The template of person-000 as the model of 50 Hz knows them."""
    worn = simulate(draw_person(0), Scene(duration_s=360.0), seed=0).recording
    model = ModelCatalog().named("default-50")
    return enroll(model.observe(worn).good, cohort=model.cohort, now=datetime.now(UTC))
