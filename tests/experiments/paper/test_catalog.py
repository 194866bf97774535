"""Names: of experiments, of cohorts, and what a wrong one is told."""

from pathlib import Path

import numpy as np
import pytest

from acclock.errors import ConfigError, TooFewError, UnreadableError
from acclock.experiments.paper.catalog import find_experiments, list_experiments
from acclock.experiments.paper.cohorts import Member, deal, find_cohort, gather_members
from acclock.experiments.paper.scales import SCALES
from acclock.training.recipe import read_recipe
from acclock.values import Recording


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("movement", "movements"), ("useres", "users"), ("packetloss", "packet-loss")],
)
def test_an_unknown_name_suggests_the_nearest(typed: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"did you mean '{meant}'"):
        find_experiments([typed])


def test_no_name_is_every_experiment() -> None:
    assert [one.name for one in find_experiments([])] == list(list_experiments())


@pytest.mark.parametrize("name", list(list_experiments()))
def test_every_variant_has_a_name_of_its_own_and_a_recipe_that_reads(name: str) -> None:
    experiment = list_experiments()[name]

    names = [variant.name for variant in experiment.variants]
    recipes = [read_recipe(SCALES["quick"].fill_in(one.recipe)) for one in experiment.variants]

    assert len(set(names)) == len(names) == len(recipes)


def test_missing_data_says_where_to_get_it() -> None:
    with pytest.raises(ConfigError, match=r"doi\.org"):
        find_cohort("mscardio")
    with pytest.raises(UnreadableError, match=r"nowhere is not there; MSCardio is at .*doi\.org"):
        find_cohort("mscardio", Path("nowhere"))


def test_a_folder_that_is_not_there_is_refused() -> None:
    with pytest.raises(UnreadableError, match="nowhere is neither"):
        find_cohort("nowhere")


def test_other_bytes_are_another_cohort(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1")
    before = find_cohort(str(tmp_path))
    (tmp_path / "a.csv").write_text("2")

    assert find_cohort(str(tmp_path)).fingerprint != before.fingerprint


def test_too_few_people_for_three_folds_are_told_so(simulated: Path) -> None:
    with pytest.raises(TooFewError, match="for three folds"):
        gather_members(find_cohort(str(simulated)), SCALES["quick"], 0)


def test_people_are_dealt_evenly_and_who_came_once_is_learned_from() -> None:
    once = Recording(samples=np.zeros((3, 10)), rate_hz=100.0)
    members = [Member(name=f"p{n}", recordings=(once,) * (1 + (n > 1))) for n in range(11)]

    folds = deal(members, seed=0)

    assert set(folds) == {f"p{n}" for n in range(2, 11)}
    assert np.bincount(list(folds.values())).tolist() == [3, 3, 3]
