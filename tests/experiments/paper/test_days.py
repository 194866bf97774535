"""Recorded people, days after they enrolled."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from acclock.errors import UnreadableError
from acclock.experiments.paper import encoders
from acclock.experiments.paper.cohorts import Member, find_cohort, gather_members
from acclock.experiments.paper.measures import days
from acclock.experiments.paper.studies.lasting import DAYS
from acclock.experiments.paper.units import Unit, plan_units
from acclock.recordings.simulated import SimulatedCohort, write_cohort
from acclock.simulation import Scene

FIRST = datetime(2025, 3, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("six") / "people"
    write_cohort(SimulatedCohort(scene=Scene(duration_s=64.0), people=6, sessions=3), path)
    return path


def date(member: Member, apart: tuple[int, ...]) -> Member:
    dated = zip(member.recordings, apart, strict=True)
    recordings = [replace(one, start=FIRST + timedelta(days=day)) for one, day in dated]
    return replace(member, recordings=tuple(recordings))


def test_whoever_came_in_a_stretch_of_days_is_tried_in_it(
    folder: Path, make_unit: Callable[..., Unit], monkeypatch: pytest.MonkeyPatch
) -> None:
    cohort = find_cohort(str(folder))
    light = make_unit("users", "still")
    units = [
        replace(unit, variant=replace(unit.variant, recipe=light.variant.recipe))
        for unit in plan_units(DAYS, cohort, light.scale)
        if unit.fold == 0
    ]
    dated = tuple(date(one, (0, 3, 30)) for one in gather_members(cohort, light.scale, 0))
    monkeypatch.setattr(encoders, "gather_members", lambda *_: dated)

    found = {unit.variant.name: days.measure(unit) for unit in units}

    came = {name: len(outcome.people) for name, outcome in found.items()}
    assert came == {
        "1 to 7 days": 2,
        "8 to 14 days": 0,
        "15 to 28 days": 0,
        "29 to 56 days": 2,
        "57 days and more": 0,
    }
    (followed,) = found["1 to 7 days"].series.values()
    assert [day for day, _ in followed] == [3.0, 30.0]


def test_a_recording_without_a_date_is_told(folder: Path, make_unit: Callable[..., Unit]) -> None:
    scale = make_unit("users", "still").scale
    member = date(gather_members(find_cohort(str(folder)), scale, 0)[0], (0, 1, 2))
    undated = replace(member.recordings[1], start=None)

    with pytest.raises(UnreadableError, match="does not say when"):
        days.count_days(replace(member, recordings=(member.recordings[0], undated)))
