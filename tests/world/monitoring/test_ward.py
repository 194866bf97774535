"""What a template learns while its user is watched over, and what becomes of it in the vault."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from acclock.errors import ModelError
from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import enroll
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import FloatArray
from acclock.world.desk import Desk, open_desk
from acclock.world.files import read, write
from acclock.world.models.catalog import ModelCatalog
from acclock.world.monitoring.ward import Ward
from acclock.world.sources.parsing import parse_source
from acclock.world.vault.keys import KeyFile
from acclock.world.vault.opening import open_vault


@dataclass
class Clock:
    now: datetime = datetime(2026, 1, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(tmp_path: Path, clock: Clock) -> Iterator[Desk]:
    with open_vault(tmp_path, key_store=KeyFile(tmp_path / "key"), clock=clock) as vault:
        yield open_desk(vault)


@pytest.fixture(scope="module")
def windows() -> FloatArray:
    """Embeddings of five minutes of one simulated person."""
    worn = simulate(draw_person(0), Scene(duration_s=300.0), seed=1).recording
    return ModelCatalog().named("default").observe(worn).good


def add(desk: Desk, rows: FloatArray, clock: Clock, *, goal: int) -> Ward:
    cohort: Cohort = desk.models.named("default").cohort
    desk.vault.add("anna", enroll(rows, cohort=cohort, now=clock.now, goal=goal))
    return Ward(desk, "anna")


def test_an_earphone_that_samples_too_rarely_for_the_model_is_refused(
    desk: Desk, clock: Clock, windows: FloatArray, tmp_path: Path
) -> None:
    ward = add(desk, windows[:30], clock, goal=50)
    rare = simulate(draw_person(0), Scene(duration_s=20.0, rate_hz=50.0)).recording
    write(rare, tmp_path / "rare.npz")

    with pytest.raises(ModelError, match="taken at 50 Hz"):
        ward.newest.require(parse_source(f"replay:{tmp_path / 'rare.npz'}"))
    with pytest.raises(ModelError, match="taken at 50 Hz"):
        desk.verify("anna", read(tmp_path / "rare.npz", rate_hz=100.0))


def test_a_light_enrollment_grows_to_its_goal_and_each_step_is_a_version(
    desk: Desk, clock: Clock, windows: FloatArray
) -> None:
    ward = add(desk, windows[:30], clock, goal=50)

    grown = [ward.learn(tuple(windows[at : at + 12])) for at in (30, 42, 54)]

    assert grown == [True, True, False]
    assert ward.template.windows == 50
    assert desk.vault.person("anna").version == 3
    assert [event.kind for event in desk.vault.events()][-2:] == ["grown", "grown"]
    np.testing.assert_allclose(desk.vault.template("anna").center, ward.template.center, atol=1e-6)


def test_a_complete_template_follows_its_user_once_a_week_within_the_budget(
    desk: Desk, clock: Clock, windows: FloatArray
) -> None:
    ward = add(desk, windows[:40], clock, goal=40)
    # windows at the center are clearly the user's, whatever the model thinks of the others
    confident = tuple(np.tile(ward.template.center, (12, 1)))

    early = ward.learn(confident)
    clock.now += timedelta(days=8)
    late = ward.learn(confident)
    at_once_again = ward.learn(confident)

    assert (early, late, at_once_again) == (False, True, False)
    assert desk.vault.person("anna").version == 2
    assert ward.template.threshold <= desk.vault.template("anna", 1).threshold


def test_few_windows_teach_nothing(desk: Desk, clock: Clock, windows: FloatArray) -> None:
    ward = add(desk, windows[:30], clock, goal=50)

    assert not ward.learn(tuple(windows[30:35]))


def test_who_was_slower_learns_nothing_and_sees_the_newer_version(
    desk: Desk, clock: Clock, windows: FloatArray
) -> None:
    slow, quick = add(desk, windows[:30], clock, goal=60), Ward(desk, "anna")

    assert quick.learn(tuple(windows[30:45]))
    assert not slow.learn(tuple(windows[45:60]))

    assert slow.look() == "changed"
    assert slow.look() == "none"
    assert slow.template.windows == 45


def test_somebody_enrolled_anew_under_the_same_name_is_not_the_same(
    desk: Desk, clock: Clock, windows: FloatArray
) -> None:
    ward = add(desk, windows[:30], clock, goal=50)
    template = ward.template

    desk.vault.remove("anna")
    gone = ward.look()
    desk.vault.add("anna", replace(template))

    assert (gone, ward.look()) == ("gone", "gone")


def test_a_person_who_was_removed_is_not_known_though_the_name_is_taken_again(
    desk: Desk, clock: Clock, windows: FloatArray
) -> None:
    ward = add(desk, windows[:40], clock, goal=40)
    assert ward.is_known()

    desk.vault.remove("anna")
    assert not ward.is_known()
    add(desk, windows[:40], clock, goal=40)

    assert not ward.is_known()


def test_a_template_that_was_carried_over_brings_its_model(
    desk: Desk, clock: Clock, windows: FloatArray
) -> None:
    ward = add(desk, windows[:30], clock, goal=50)
    slower = desk.models.named("default-50")
    template = replace(ward.template, model=slower.embedder.fingerprint)

    desk.vault.revise("anna", template, after=1, kind="migrated")

    assert (ward.newest.model.name, ward.look(), ward.newest.model) == (
        "default",
        "changed",
        slower,
    )


def test_a_template_of_a_model_that_is_not_here_is_never_taken(
    desk: Desk, clock: Clock, windows: FloatArray
) -> None:
    ward = add(desk, windows[:30], clock, goal=50)
    before = ward.newest

    desk.vault.revise("anna", replace(ward.template, model="0" * 64), after=1)

    with pytest.raises(ModelError, match="acclock migrate"):
        ward.look()
    assert ward.newest is before
