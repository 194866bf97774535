"""Recordings in a folder take part as real hearts do."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from acclock.errors import ConfigError
from acclock.experiments.paper.catalog import list_experiments
from acclock.experiments.paper.cohorts import find_cohort
from acclock.experiments.paper.running import run_experiments
from acclock.experiments.paper.scales import Scale
from acclock.experiments.paper.units import Unit, do
from acclock.recordings.simulated import SimulatedCohort, write_cohort
from acclock.simulation import Scene


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("six") / "people"
    write_cohort(SimulatedCohort(scene=Scene(duration_s=64.0), people=6, sessions=2), path)
    return path


def test_everybody_in_a_folder_is_tried_within_and_across_sessions(
    folder: Path, make_unit: Callable[..., Unit]
) -> None:
    unit = replace(make_unit("users", "still"), cohort=find_cohort(str(folder)))

    outcome = do(unit)

    assert len(outcome.people) == 2
    assert all(name.startswith("people/") for name in outcome.people)
    assert all("cross_far" in one for one in outcome.people.values())


def test_what_recordings_cannot_answer_is_refused(
    folder: Path, tiny: Scale, tmp_path: Path
) -> None:
    sitting = [list_experiments()["postures"]]

    with pytest.raises(ConfigError, match="cannot answer postures"):
        run_experiments(sitting, cohort=str(folder), data=None, scale=tiny, out=tmp_path)
