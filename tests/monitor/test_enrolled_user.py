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
from acclock.models.catalog import ModelCatalog
from acclock.monitor.enrolled_user import EnrolledUser
from acclock.recognizer import Recognizer, open_recognizer
from acclock.recordings import read, write
from acclock.simulation import Scene, draw_person, simulate
from acclock.sources.parsing import parse_source
from acclock.values import FloatArray
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault


@dataclass
class Clock:
    now: datetime = datetime(2026, 1, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def recognizer(tmp_path: Path, clock: Clock) -> Iterator[Recognizer]:
    with open_vault(tmp_path, key_store=KeyFile(tmp_path / "key"), clock=clock) as vault:
        yield open_recognizer(vault)


@pytest.fixture(scope="module")
def windows() -> FloatArray:
    """Embeddings of five minutes of one simulated person."""
    worn = simulate(draw_person(0), Scene(duration_s=300.0), seed=1).recording
    return ModelCatalog().named("default").observe(worn).good


def add(recognizer: Recognizer, rows: FloatArray, clock: Clock, *, goal: int) -> EnrolledUser:
    cohort: Cohort = recognizer.models.named("default").cohort
    recognizer.vault.add("anna", enroll(rows, cohort=cohort, now=clock.now, goal=goal))
    return EnrolledUser(recognizer, "anna")


def test_an_earphone_that_samples_too_rarely_for_the_model_is_refused(
    recognizer: Recognizer, clock: Clock, windows: FloatArray, tmp_path: Path
) -> None:
    user = add(recognizer, windows[:30], clock, goal=50)
    rare = simulate(draw_person(0), Scene(duration_s=20.0, rate_hz=50.0)).recording
    write(rare, tmp_path / "rare.npz")

    with pytest.raises(ModelError, match="taken at 50 Hz"):
        user.newest.require(parse_source(f"replay:{tmp_path / 'rare.npz'}"))
    with pytest.raises(ModelError, match="taken at 50 Hz"):
        recognizer.verify("anna", read(tmp_path / "rare.npz", rate_hz=100.0))


def test_a_light_enrollment_grows_to_its_goal_and_each_step_is_a_version(
    recognizer: Recognizer, clock: Clock, windows: FloatArray
) -> None:
    user = add(recognizer, windows[:30], clock, goal=50)

    grown = [user.learn(tuple(windows[at : at + 12])) for at in (30, 42, 54)]

    assert grown == [True, True, False]
    assert user.template.windows == 50
    assert recognizer.vault.person("anna").version == 3
    assert [event.kind for event in recognizer.vault.events()][-2:] == ["grown", "grown"]
    np.testing.assert_allclose(
        recognizer.vault.template("anna").center, user.template.center, atol=1e-6
    )


def test_a_complete_template_follows_its_user_once_a_week_within_the_budget(
    recognizer: Recognizer, clock: Clock, windows: FloatArray
) -> None:
    user = add(recognizer, windows[:40], clock, goal=40)
    # windows at the center are clearly the user's, whatever the model thinks of the others
    confident = tuple(np.tile(user.template.center, (12, 1)))

    early = user.learn(confident)
    clock.now += timedelta(days=8)
    late = user.learn(confident)
    at_once_again = user.learn(confident)

    assert (early, late, at_once_again) == (False, True, False)
    assert recognizer.vault.person("anna").version == 2
    assert user.template.threshold <= recognizer.vault.template("anna", 1).threshold


def test_few_windows_teach_nothing(
    recognizer: Recognizer, clock: Clock, windows: FloatArray
) -> None:
    user = add(recognizer, windows[:30], clock, goal=50)

    assert not user.learn(tuple(windows[30:35]))


def test_who_was_slower_learns_nothing_and_sees_the_newer_version(
    recognizer: Recognizer, clock: Clock, windows: FloatArray
) -> None:
    slow, quick = add(recognizer, windows[:30], clock, goal=60), EnrolledUser(recognizer, "anna")

    assert quick.learn(tuple(windows[30:45]))
    assert not slow.learn(tuple(windows[45:60]))

    assert slow.look() == "changed"
    assert slow.look() == "none"
    assert slow.template.windows == 45


def test_somebody_enrolled_anew_under_the_same_name_is_not_the_same(
    recognizer: Recognizer, clock: Clock, windows: FloatArray
) -> None:
    user = add(recognizer, windows[:30], clock, goal=50)
    template = user.template

    recognizer.vault.remove("anna")
    gone = user.look()
    recognizer.vault.add("anna", replace(template))

    assert (gone, user.look()) == ("gone", "gone")


def test_a_person_who_was_removed_is_not_known_though_the_name_is_taken_again(
    recognizer: Recognizer, clock: Clock, windows: FloatArray
) -> None:
    user = add(recognizer, windows[:40], clock, goal=40)
    assert user.is_known()

    recognizer.vault.remove("anna")
    assert not user.is_known()
    add(recognizer, windows[:40], clock, goal=40)

    assert not user.is_known()


def test_a_template_that_was_carried_over_brings_its_model(
    recognizer: Recognizer, clock: Clock, windows: FloatArray
) -> None:
    user = add(recognizer, windows[:30], clock, goal=50)
    slower = recognizer.models.named("default-50")
    template = replace(user.template, model=slower.embedder.fingerprint)

    recognizer.vault.revise("anna", template, after=1, kind="migrated")

    assert (user.newest.model.name, user.look(), user.newest.model) == (
        "default",
        "changed",
        slower,
    )


def test_a_template_of_a_model_that_is_not_here_is_never_taken(
    recognizer: Recognizer, clock: Clock, windows: FloatArray
) -> None:
    user = add(recognizer, windows[:30], clock, goal=50)
    before = user.newest

    recognizer.vault.revise("anna", replace(user.template, model="0" * 64), after=1)

    with pytest.raises(ModelError, match="acclock migrate"):
        user.look()
    assert user.newest is before
