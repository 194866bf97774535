"""People whom different models enrolled, in one vault: known again, told apart, carried over."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from acclock.errors import ModelError, NameRefusedError
from acclock.recognizer import Recognizer, open_recognizer
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import Recording
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault
from acclock.vault.vault import Vault

ANNA, BEN = 0, 1
SEED = 78
"""Of people whom no model has learned from."""

Wear = Callable[..., Recording]


@pytest.fixture(scope="module")
def wear() -> Wear:
    """Give recordings of somebody, each simulated once."""
    made: dict[tuple[int, float, int], Recording] = {}

    def give(person: int, *, rate_hz: float = 100.0, session: int = 0) -> Recording:
        key = person, rate_hz, session
        if key not in made:
            scene = Scene(duration_s=150.0, session=session, rate_hz=rate_hz)
            made[key] = simulate(draw_person(person, seed=SEED), scene, seed=SEED).recording
        return made[key]

    return give


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with open_vault(tmp_path / "vault", key_store=KeyFile(tmp_path / "key")) as opened:
        yield opened


@pytest.fixture
def recognizer(vault: Vault, wear: Wear) -> Recognizer:
    """Anna came with an earphone of 100 Hz, ben with one of 25 Hz."""
    recognizer = open_recognizer(vault)
    recognizer.enroll("anna", [wear(ANNA)])
    recognizer.enroll("ben", [wear(BEN, rate_hz=25.0)])
    return recognizer


def test_people_of_different_models_are_known_again_in_one_vault(
    recognizer: Recognizer, wear: Wear
) -> None:
    anna, ben = wear(ANNA, session=1), wear(BEN, rate_hz=25.0, session=1)

    assert recognizer.model_of("anna").sentence == "model default: anna was enrolled with it"
    assert recognizer.model_of("ben").sentence == "model default-25: ben was enrolled with it"
    assert recognizer.verify("anna", anna).accepted
    assert recognizer.verify("ben", ben).accepted
    assert not recognizer.verify("anna", wear(BEN)).accepted
    assert not recognizer.verify("ben", wear(ANNA, rate_hz=25.0)).accepted


def test_a_sensor_that_samples_more_often_is_brought_to_the_model_of_the_template(
    recognizer: Recognizer, wear: Wear
) -> None:
    assert recognizer.verify("ben", wear(BEN, session=1)).accepted
    with pytest.raises(ModelError, match="taken at 25 Hz"):
        recognizer.verify("anna", wear(ANNA, rate_hz=25.0))


def test_the_rarest_samples_of_an_enrollment_choose_the_model(vault: Vault, wear: Wear) -> None:
    both = open_recognizer(vault).enroll("anna", [wear(ANNA), wear(ANNA, rate_hz=50.0)])

    assert both.chosen.sentence == "model default-50: the samples were taken at 50 Hz"
    assert vault.person("anna").model == both.chosen.model.embedder.fingerprint


def test_another_model_than_that_of_the_template_is_refused_with_the_way_out(
    recognizer: Recognizer,
) -> None:
    assert recognizer.model_of("anna", asked="default").model.name == "default"
    with pytest.raises(ModelError, match="acclock migrate anna --model default-50"):
        recognizer.model_of("anna", asked="default-50")


def test_everybody_is_looked_for_by_the_model_that_enrolled_them(
    recognizer: Recognizer, wear: Wear
) -> None:
    anna = recognizer.identify(wear(ANNA, session=1))
    ben = recognizer.identify(wear(BEN, rate_hz=25.0, session=1))

    assert (anna.name, dict(anna.uncompared)) == ("anna", {})
    assert (ben.name, list(ben.uncompared)) == ("ben", ["anna"])
    assert "taken at 25 Hz" in ben.uncompared["anna"]


def test_only_people_of_the_model_that_is_asked_for_are_looked_for(
    recognizer: Recognizer, wear: Wear
) -> None:
    found = recognizer.identify(wear(ANNA, session=1), asked="default-25")

    assert found.name is None
    assert dict(found.uncompared) == {"anna": "enrolled with default, not with default-25"}


def test_whose_model_is_not_here_is_told_how_to_be_known_again(
    recognizer: Recognizer, wear: Wear
) -> None:
    template = recognizer.vault.template("anna")
    recognizer.vault.revise("anna", replace(template, model="0" * 64), after=1)

    with pytest.raises(ModelError, match=r"not here \(000000000000\.\.\.\).*`acclock migrate`"):
        recognizer.verify("anna", wear(ANNA, session=1))
    assert list(recognizer.identify(wear(BEN, session=1)).uncompared) == ["anna"]


def test_carrying_over_is_enrolling_anew_from_what_was_kept(vault: Vault, wear: Wear) -> None:
    open_recognizer(vault, models=["default-25"]).enroll("anna", [wear(ANNA)], keep=True)
    recognizer = open_recognizer(vault)

    done = recognizer.migrate(["anna"])

    recognizer.enroll("anew", [wear(ANNA)])
    carried, anew = vault.template("anna"), vault.template("anew")
    assert [(person.name, person.version) for person in done.migrated] == [("anna", 2)]
    assert recognizer.model_of("anna").model.name == "default"
    np.testing.assert_allclose(carried.center, anew.center, atol=1e-4)
    assert carried.threshold == pytest.approx(anew.threshold, abs=1e-3)
    assert recognizer.verify("anna", wear(ANNA, session=1)).accepted
    assert not recognizer.verify("anna", wear(BEN)).accepted


def test_carrying_over_again_changes_nothing(vault: Vault, wear: Wear) -> None:
    recognizer = open_recognizer(vault)
    recognizer.enroll("anna", [wear(ANNA)], keep=True)

    assert recognizer.migrate().unchanged == ("anna",)
    assert vault.person("anna").version == 1


def test_who_enrolled_by_a_model_that_is_gone_is_carried_over(vault: Vault, wear: Wear) -> None:
    recognizer = open_recognizer(vault)
    recognizer.enroll("anna", [wear(ANNA)], keep=True)
    vault.revise("anna", replace(vault.template("anna"), model="0" * 64), after=1)

    recognizer.migrate()

    assert recognizer.verify("anna", wear(ANNA, session=1)).accepted


def test_who_cannot_be_carried_over_is_named_with_the_reason_and_left_alone(
    recognizer: Recognizer, wear: Wear
) -> None:
    recognizer.enroll("slow", [wear(BEN, rate_hz=25.0)], keep=True)

    done = open_recognizer(recognizer.vault, models=["default"]).migrate(["ben", "slow"])

    assert done.migrated == ()
    assert "no recording of theirs was kept" in done.waiting["ben"]
    assert "taken at 25 Hz; default needs at least 70 Hz" in done.waiting["slow"]
    assert recognizer.model_of("slow").model.name == "default-25"
    with pytest.raises(NameRefusedError):
        recognizer.migrate(["anna", "nobody"])


def test_what_was_added_is_kept_and_carried_over_too(vault: Vault, wear: Wear) -> None:
    recognizer = open_recognizer(vault, models=["default-25"])
    recognizer.enroll("anna", [wear(ANNA)], keep=True)
    recognizer.extend("anna", [wear(ANNA, session=1)], keep=True)

    open_recognizer(vault).migrate()

    assert len(vault.kept("anna")) == 2
    assert (
        vault.template("anna").windows
        > open_recognizer(vault).enroll("b", [wear(ANNA)]).progress.good
    )
