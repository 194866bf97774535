"""Scores in four columns, there and back."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ConfigError, UnreadableError
from acclock.experiments.paper.catalog import list_experiments
from acclock.experiments.paper.cohorts import find_cohort
from acclock.experiments.paper.measures.rates import fill_unit
from acclock.experiments.paper.protocol import try_thirds
from acclock.experiments.paper.scales import SCALES
from acclock.experiments.paper.scores import (
    ScoreLine,
    list_scores,
    read_scores,
    split_scores,
    write_all_scores,
    write_scores,
)
from acclock.experiments.paper.units import Unit

NAMES = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8)
LINES = st.lists(
    st.builds(ScoreLine, NAMES, NAMES, NAMES, st.floats(-2.0, 0.0).map(lambda x: round(x, 6)))
)


@given(lines=LINES)
def test_what_is_written_is_read_back(
    lines: list[ScoreLine], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("scores") / "scores.txt"

    count = write_scores(lines, path)

    assert (read_scores(path), count) == (lines, len(lines))


def test_names_lose_their_spaces_and_comments_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "scores.txt"
    write_scores([ScoreLine("anna b", "carl", "w 1", -0.5)], path)
    path.write_text("# made by hand\n\n" + path.read_text())

    assert read_scores(path) == [ScoreLine("anna_b", "carl", "w_1", -0.5)]


@pytest.mark.parametrize("line", ["a b c", "a b c d", "a b c 0.5 e", "a b c nan"])
def test_a_line_of_something_else_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "scores.txt"
    path.write_text(f"a b c 0.5\n{line}\n")

    with pytest.raises(UnreadableError, match="line 2"):
        read_scores(path)


def test_the_scores_of_a_unit_are_its_distances(
    make_unit: Callable[..., Unit], tmp_path: Path
) -> None:
    unit = make_unit("users", "still")
    path = tmp_path / "scores.txt"

    write_scores(list_scores(unit), path)

    own, others = split_scores(read_scores(path))
    _, scored, _ = fill_unit(unit)
    trials = try_thirds(scored, seed=unit.seed)
    np.testing.assert_allclose(np.sort(own), np.sort(trials.distances[trials.own]), atol=1e-6)
    np.testing.assert_allclose(np.sort(others), np.sort(trials.distances[trials.others]), atol=1e-6)


def test_an_experiment_without_trials_has_no_scores(tmp_path: Path) -> None:
    cost = [list_experiments()["cost"]]

    with pytest.raises(ConfigError, match="cost tries no windows"):
        write_all_scores(
            cost, cohort=find_cohort("simulated"), scale=SCALES["quick"], folder=tmp_path
        )
