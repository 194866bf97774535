from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from acclock.errors import ConfigError, ModelError, TooFewError
from acclock.experiments.gallery import FingerprintedEmbedder
from acclock.experiments.participants import DatasetName, gather
from acclock.matching.cohort import Cohort as Strangers
from acclock.matching.cohort import hash_stranger
from acclock.recordings import write
from acclock.recordings.simulated import SimulatedCohort, write_cohort
from acclock.simulation import Scene
from acclock.values import Recording

Make = Callable[..., FingerprintedEmbedder]
EVERYONE = tuple(f"simulated/simulated-0-{n:03d}" for n in range(5))


def test_everybody_is_found_with_cut_recordings_in_order(simulated: Path, bands: Make) -> None:
    found = gather("simulated", simulated, card=bands().card, fewest_recordings=2)

    assert tuple(one.name for one in found.participants) == EVERYONE
    for person in found.participants:
        assert [recording.session for recording in person.recordings] == ["0", "1"]
        assert {recording.duration_s for recording in person.recordings} == {70.0}
    assert "do not exist" in found.notes[0]


def test_only_the_first_people_are_read_when_asked(simulated: Path, bands: Make) -> None:
    found = gather("folder", simulated, card=bands().card, fewest_recordings=2, most_people=3)

    assert len(found.participants) == 3


def test_people_from_training_are_turned_away_and_it_is_said(simulated: Path, bands: Make) -> None:
    card = bands(learned_from=EVERYONE[:2]).card

    found = gather("simulated", simulated, card=card, fewest_recordings=2)

    assert tuple(one.name for one in found.participants) == EVERYONE[2:]
    assert "2 people were turned away: the model bands learned from them" in found.notes


@pytest.mark.parametrize("name", ["simulated", "folder"])
def test_a_model_is_not_evaluated_on_people_it_learned_from(
    simulated: Path, bands: Make, name: DatasetName
) -> None:
    card = bands(learned_from=EVERYONE[:4]).card

    with pytest.raises(ModelError, match=r"learned from 4 of the 5 people .* never met"):
        gather(name, simulated, card=card, fewest_recordings=2)


def made_from(model: str, names: tuple[str, ...]) -> Strangers:
    people = tuple(hash_stranger(name, model=model) for name in names)
    return Strangers(embeddings=np.eye(36), model=model, people=people)


def test_people_in_the_cohort_are_turned_away_and_it_is_said(simulated: Path, bands: Make) -> None:
    model = bands(learned_from=EVERYONE[:1])
    cohort = made_from(model.fingerprint, EVERYONE[:2])

    found = gather("simulated", simulated, card=model.card, cohort=cohort, fewest_recordings=2)

    assert tuple(one.name for one in found.participants) == EVERYONE[2:]
    assert found.notes[1:] == (
        "1 people were turned away: the model bands learned from them",
        "1 people were turned away: the cohort of bands was made from them",
    )


def test_nothing_is_measured_when_all_are_in_the_cohort(simulated: Path, bands: Make) -> None:
    cohort = made_from(bands().fingerprint, EVERYONE)

    with pytest.raises(ModelError, match=r"cohort of bands was made from 5 of the 5 people"):
        gather("simulated", simulated, card=bands().card, cohort=cohort, fewest_recordings=2)


def test_a_cohort_of_another_model_recognizes_nobody(bands: Make) -> None:
    cohort = made_from("another", EVERYONE)

    assert all(cohort.was_made_from(name) for name in EVERYONE)
    assert not set(cohort.people) & set(made_from(bands().fingerprint, EVERYONE).people)


def test_an_unknown_data_set_is_refused(simulated: Path, bands: Make) -> None:
    with pytest.raises(ConfigError, match=r"no data set 'ecg'; there are mscardio, classyglass"):
        gather(cast("Any", "ecg"), simulated, card=bands().card, fewest_recordings=2)


@pytest.mark.parametrize("name", ["mscardio", "classyglass"])
def test_a_data_set_must_be_what_it_is_called(
    simulated: Path, bands: Make, name: DatasetName
) -> None:
    with pytest.raises(ConfigError, match=f"does not hold {name}; call it by what it is"):
        gather(name, simulated, card=bands().card, fewest_recordings=2)


def test_real_people_are_not_called_simulated(tmp_path: Path, bands: Make) -> None:
    for person in ("anna", "bert"):
        (tmp_path / person).mkdir()
        still = Recording(samples=np.ones((3, 7000)), rate_hz=100.0, person=person)
        write(still, tmp_path / person / "one.npz")

    with pytest.raises(ConfigError, match="people who were not simulated"):
        gather("simulated", tmp_path, card=bands().card, fewest_recordings=1)


def test_too_few_people_are_refused(tmp_path: Path, bands: Make) -> None:
    folder = tmp_path / "short"
    write_cohort(
        SimulatedCohort(scene=Scene(duration_s=20.0), people=2, sessions=2), folder, workers=1
    )

    with pytest.raises(TooFewError, match=r"there are 0 people .* 2 or more recordings of 60 s"):
        gather("simulated", folder, card=bands().card, fewest_recordings=2)
