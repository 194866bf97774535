"""Templates that are carried over to another model, and those that cannot be."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from acclock.errors import AccLockError, EnrollmentError, ModelError, SignalError, TooFewError
from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import enroll
from acclock.matching.template import Template
from acclock.matching.verification import verify
from acclock.values import Recording
from acclock.vault.identifier import Remake, migrate
from acclock.vault.opening import check

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place


def newer_model(hearts: "Hearts") -> Remake:
    """Another model: it sees the first samples of each second."""
    cohort = Cohort(embeddings=hearts.directions(200), model="newer")

    def remake(kept: Sequence[Recording], before: Template) -> Template | None:
        if before.model == "newer":
            return None
        cut = np.vstack([recording.samples[0, :480].reshape(-1, 16) for recording in kept])
        rows = cut / np.linalg.norm(cut, axis=1, keepdims=True)
        return enroll(rows, cohort=cohort, now=before.enrolled, rule=before.rule)

    return remake


def test_whoever_kept_a_recording_is_enrolled_anew_and_the_others_are_named(
    place: "Place", hearts: "Hearts"
) -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template(), keep=[hearts.recording()])
        vault.add("bob", hearts.template())

        done = migrate(vault, vault.people(), remake=newer_model(hearts))

        assert [person.name for person in done.migrated] == ["ada"]
        assert "acclock enroll bob FILE --keep" in done.waiting["bob"]
        assert [person.model for person in vault.people()] == ["newer", "toy"]
        template = vault.template("ada")
        np.testing.assert_allclose(template.anchor, template.center)
        assert verify(template, template.center).accepted
        (event,) = [event for event in vault.events() if event.kind == "migrated"]
        assert (event.version, event.note) == (2, "from model toy to newer")
        check(vault)


def test_migrating_twice_changes_nothing(place: "Place", hearts: "Hearts") -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template(), keep=[hearts.recording()])
        migrate(vault, vault.people(), remake=newer_model(hearts))
        events = len(vault.events())

        again = migrate(vault, vault.people(), remake=newer_model(hearts))

        assert (again.migrated, again.unchanged, again.waiting) == ((), ("ada",), {})
        assert len(vault.events()) == events


def test_what_was_carried_over_can_be_rolled_back(place: "Place", hearts: "Hearts") -> None:
    before = hearts.template()
    with place.open() as vault:
        vault.add("ada", before, keep=[hearts.recording()])
        migrate(vault, vault.people(), remake=newer_model(hearts))

        back = vault.roll_back("ada", 1)

        assert (back.version, back.model) == (3, "toy")
        np.testing.assert_allclose(vault.template("ada").center, before.center, atol=1e-12)


@pytest.mark.parametrize(
    "refusal",
    [
        EnrollmentError("two people"),
        ModelError("too slow"),
        SignalError("constant"),
        TooFewError(what="good windows", have=3, need=30),
    ],
    ids=lambda refusal: type(refusal).__name__,
)
def test_who_cannot_be_remade_is_left_alone_and_the_others_go_on(
    files: "Place", hearts: "Hearts", refusal: AccLockError
) -> None:
    remake_well = newer_model(hearts)

    def remake(kept: Sequence[Recording], before: Template) -> Template | None:
        if kept[0].ear == "right":
            raise refusal
        return remake_well(kept, before)

    spoiled = Recording(samples=np.ones((3, 500)), rate_hz=100.0, ear="right")
    with files.open() as vault:
        vault.add("ada", hearts.template(), keep=[spoiled])
        vault.add("bob", hearts.template(), keep=[hearts.recording()])

        done = migrate(vault, vault.people(), remake=remake)

        assert [person.name for person in done.migrated] == ["bob"]
        assert str(refusal) in done.waiting["ada"]
        assert (vault.person("ada").version, vault.person("ada").model) == (1, "toy")


def test_a_kept_recording_says_how_often_its_sensor_sampled(
    files: "Place", hearts: "Hearts"
) -> None:
    thin = Recording(samples=np.ones((3, 500)), rate_hz=50.0, sampled_hz=36.5)
    with files.open() as vault:
        vault.add("ada", hearts.template(), keep=[thin])
        vault.revise("ada", hearts.template(), after=1, keep=[hearts.recording()])

        kept = vault.kept("ada")

        assert [recording.native_rate_hz for recording in kept] == [36.5, 100.0]
