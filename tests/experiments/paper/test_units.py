"""Units, what they are called, and what came out of them on disk."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acclock.errors import UnreadableError
from acclock.experiments.paper import running
from acclock.experiments.paper.catalog import list_experiments
from acclock.experiments.paper.cohorts import find_cohort
from acclock.experiments.paper.running import Done, run
from acclock.experiments.paper.scales import Scale
from acclock.experiments.paper.store import OutcomeStore
from acclock.experiments.paper.units import Outcome, Unit, do, plan_units


def make_units(scale: Scale, name: str = "movements") -> list[Unit]:
    return list(plan_units(list_experiments()[name], find_cohort("simulated"), scale))


def fake(unit: Unit) -> Done:
    rates = {"far": 0.1 + unit.fold, "frr": len(unit.variant.name) / 100}
    return unit, Outcome(people={f"person-{unit.fold}": rates}), 1.0


@pytest.fixture
def store(tmp_path: Path) -> OutcomeStore:
    return OutcomeStore(tmp_path / "outcomes")


def test_an_experiment_is_cut_into_folds_times_variants(tiny: Scale) -> None:
    units = make_units(tiny)

    assert len(units) == 3 * len(list_experiments()["movements"].variants)
    assert len({unit.key for unit in units}) == len(units)


def test_processes_that_begin_at_once_begin_in_different_folds(tiny: Scale) -> None:
    units = make_units(tiny)

    begun_together = [units[place : place + 3] for place in range(len(units) - 2)]

    assert all({unit.fold for unit in three} == {0, 1, 2} for three in begun_together)


@pytest.mark.parametrize("changed", ["version", "fold", "seed", "scale", "cohort", "variant"])
def test_whatever_decides_the_outcome_changes_its_name(tiny: Scale, changed: str) -> None:
    unit = make_units(tiny)[0]
    others: dict[str, Any] = {
        "version": 99,
        "fold": 2,
        "seed": 5,
        "scale": replace(tiny, tested_s=20.0),
        "cohort": replace(unit.cohort, fingerprint="other bytes"),
        "variant": replace(unit.variant, lost=0.5),
    }

    assert replace(unit, **{changed: others[changed]}).key != unit.key


def test_the_papers_figures_do_not_change_its_name(tiny: Scale) -> None:
    unit = make_units(tiny)[0]

    assert replace(unit, variant=replace(unit.variant, paper={})).key == unit.key


def test_a_repeated_run_measures_nothing(
    tiny: Scale, store: OutcomeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "do_timed", fake)
    units = make_units(tiny)

    first = run(units, store, workers=1)
    again = run(units, store, workers=1)

    assert (first, again) == (len(units), 0)


def test_an_interrupted_run_goes_on_where_it_was(
    tiny: Scale, store: OutcomeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = make_units(tiny)

    def stop_at_third(unit: Unit) -> Done:
        if unit.key == units[2].key:
            raise KeyboardInterrupt
        return fake(unit)

    monkeypatch.setattr(running, "do_timed", stop_at_third)
    with pytest.raises(KeyboardInterrupt):
        run(units, store, workers=1)
    monkeypatch.setattr(running, "do_timed", fake)

    assert run(units, store, workers=1) == len(units) - 2


def test_a_newer_version_takes_the_place_of_the_older(tiny: Scale, store: OutcomeStore) -> None:
    unit = make_units(tiny)[0]
    newer = replace(unit, version=2)

    store.put(unit, Outcome(values={"a": 1.0}), seconds=1.0)
    store.put(newer, Outcome(values={"a": 2.0}), seconds=1.0)

    (held,) = store.read(unit.experiment, "simulated", tiny.name)
    assert store.find(unit) is None
    assert held.outcome.values == {"a": 2.0}


def test_a_file_of_something_else_is_refused(tiny: Scale, tmp_path: Path) -> None:
    (tmp_path / "users.simulated.tiny.json").write_text('{"units": [{"no": 1}]}')

    with pytest.raises(UnreadableError, match="does not hold outcomes"):
        OutcomeStore(tmp_path).read("users", "simulated", tiny.name)


def test_the_same_unit_comes_out_the_same(make_unit: Callable[..., Unit]) -> None:
    unit = make_unit("users", "still")

    assert do(unit) == do(unit)


def test_two_processes_come_to_the_same_as_one(
    make_unit: Callable[..., Unit], tmp_path: Path
) -> None:
    units = [make_unit("users", "still", fold=fold) for fold in (0, 1)]
    one, two = OutcomeStore(tmp_path / "one"), OutcomeStore(tmp_path / "two")

    run(units, one, workers=1)
    run(units, two, workers=2)

    outcomes = [
        [held.outcome for held in some.read("users", "simulated", "tiny")] for some in (one, two)
    ]
    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0]) == 2
