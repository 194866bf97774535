"""Recordings of people at rest, changed as a scene would have changed them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from acclock.errors import ConfigError, UnreadableError
from acclock.experiments.paper.catalog import list_experiments
from acclock.experiments.paper.cohorts import StudyCohort, find_cohort
from acclock.experiments.paper.measures.rates import change, read_motions
from acclock.experiments.paper.protocol import WindowUse, judge, score_gallery
from acclock.experiments.paper.running import run_experiments
from acclock.experiments.paper.scales import SCALES
from acclock.experiments.paper.units import plan_units
from acclock.matching.cohort import Cohort as Strangers
from acclock.recordings.simulated import SimulatedCohort as People
from acclock.recordings.simulated import write_cohort
from acclock.simulation import Scene, draw_person, simulate

WORN = simulate(draw_person(1, seed=0), Scene(duration_s=20.0)).recording
CHANCE = np.random.default_rng(0)


def test_turning_by_a_right_angle_moves_one_axis_onto_the_next() -> None:
    turned = change(WORN, {"angle_deg": 90.0}, motions=None, chance=CHANCE)

    np.testing.assert_allclose(turned.samples[1], WORN.samples[0], atol=1e-9)
    np.testing.assert_allclose(turned.samples[2], WORN.samples[2], atol=1e-9)


def test_no_angle_changes_nothing() -> None:
    still = change(WORN, {"angle_deg": 0.0}, motions=None, chance=CHANCE)

    np.testing.assert_array_equal(still.samples, WORN.samples)


def test_recorded_heads_move_more_when_running_and_are_drawn_by_chance(data_folder: Path) -> None:
    heads = data_folder / "classyglass-dev.zip"

    added = [
        change(WORN, {"movement": what}, motions=heads, chance=np.random.default_rng(seed)).samples
        - WORN.samples
        for what, seed in (("head-shake", 0), ("run", 0), ("run", 0), ("run", 1))
    ]

    assert added[1].std() > added[0].std()
    np.testing.assert_array_equal(added[1], added[2])
    assert not np.array_equal(added[1], added[3])
    assert all(np.isfinite(one).all() for one in read_motions(heads, "running"))


def test_what_is_tried_may_differ_from_what_enrolled() -> None:
    rng = np.random.default_rng(0)
    rows = np.eye(8)[:3]
    people = [
        [
            WindowUse(
                rows=np.repeat(row[None], 9, 0),
                tried=-np.repeat(row[None], 9, 0),
                role="both",
                session=0,
            )
        ]
        for row in rows
    ]
    away = rng.normal(size=(40, 8))
    strangers = Strangers(
        embeddings=away / np.linalg.norm(away, axis=1, keepdims=True), model="fold"
    )

    rates = judge(score_gallery(people), strangers)

    assert [one["frr"] for one in rates] == [1.0] * 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("six") / "people"
    write_cohort(People(scene=Scene(duration_s=64.0), people=6, sessions=2), path)
    return path


def test_movements_of_real_hearts_say_where_heads_are(folder: Path, tmp_path: Path) -> None:
    walking = [list_experiments()["movements"]]

    with pytest.raises(ConfigError, match=r"--motions must say where ClassyGlass lies.*github"):
        run_experiments(walking, cohort=str(folder), data=None, scale=SCALES["quick"], out=tmp_path)
    with pytest.raises(UnreadableError, match=r"nowhere is not there; heads that move are at"):
        find_cohort(str(folder), motions=Path("nowhere"))


def test_only_what_moves_hangs_on_the_heads(folder: Path) -> None:
    bare = find_cohort(str(folder))
    moved = replace(bare, motions=folder, motions_fingerprint="heads")

    def name(cohort: StudyCohort, experiment: str) -> str:
        return next(plan_units(list_experiments()[experiment], cohort, SCALES["quick"])).key

    assert name(bare, "users") == name(moved, "users")
    assert name(bare, "movements") != name(moved, "movements")


def test_people_who_do_not_exist_have_no_days(tmp_path: Path) -> None:
    days = [list_experiments()["days"]]

    with pytest.raises(ConfigError, match="people who do not exist cannot answer days"):
        run_experiments(days, cohort="simulated", data=None, scale=SCALES["quick"], out=tmp_path)
