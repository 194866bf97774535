"""The scores of an experiment, as lines of four columns that other people's tools read.

``claimed_id real_id test_label score``: who the template is of, who wore the earphone, which
window it was, and how alike they are. The larger, the more alike: our distances, negated.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from acclock.errors import ConfigError, UnreadableError
from acclock.experiments.paper.cohorts import StudyCohort
from acclock.experiments.paper.measures.rates import fill_unit
from acclock.experiments.paper.protocol import try_thirds
from acclock.experiments.paper.scales import Scale
from acclock.experiments.paper.units import Unit, plan_units
from acclock.experiments.paper.variants import Experiment
from acclock.experiments.scores import equal_error_of
from acclock.system.files import replacing
from acclock.values import FloatArray


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One window against one template."""

    claimed: str
    real: str
    label: str
    score: float


def write_scores(lines: Iterable[ScoreLine], path: Path) -> int:
    """Write a file of scores, whole or not at all, and say how many; names lose their spaces."""
    count = 0
    with replacing(path) as file:
        for line in lines:
            told = [_join(one) for one in (line.claimed, line.real, line.label)]
            file.write(f"{' '.join(told)} {line.score:.6f}\n".encode())
            count += 1
    return count


def read_scores(path: Path) -> list[ScoreLine]:
    """Read a file of scores; empty lines and those that begin with # are left out."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path} cannot be read as scores: {error}") from error
    told = [(n, line.split()) for n, line in enumerate(text.splitlines(), 1)]
    return [_parse(path, n, words) for n, words in told if words and words[0][0] != "#"]


def split_scores(lines: Iterable[ScoreLine]) -> tuple[FloatArray, FloatArray]:
    """Give the distances of people's own windows, and those of strangers."""
    own: list[float] = []
    others: list[float] = []
    for line in lines:
        (own if line.claimed == line.real else others).append(-line.score)
    return np.array(own), np.array(others)


def _join(name: str) -> str:
    return "_".join(name.split()) or "_"


def _parse(path: Path, number: int, words: list[str]) -> ScoreLine:
    try:
        claimed, real, label, score = words
        line = ScoreLine(claimed, real, label, float(score))
    except ValueError as error:
        raise UnreadableError(
            f"line {number} of {path} is not 'claimed_id real_id test_label score'"
        ) from error
    if math.isnan(line.score):
        raise UnreadableError(f"the score in line {number} of {path} is not a number")
    return line


_FARTHEST = 2.0
"""Between unit vectors; what has no distance is rejected, and nothing lies farther."""


def write_all_scores(
    experiments: Sequence[Experiment], *, cohort: StudyCohort, scale: Scale, folder: Path
) -> dict[str, object]:
    """Write a file for each unit, read it back, and tell its equal error at one threshold."""
    able = [one for one in experiments if one.measure == "rates"]
    if not able:
        names = ", ".join(one.name for one in experiments)
        raise ConfigError(f"{names} tries no windows against templates, so there are no scores")
    folder.mkdir(parents=True, exist_ok=True)
    told: dict[str, object] = {}
    for experiment in able:
        for unit in plan_units(experiment, cohort, scale):
            path = folder / f"{_name(unit)}.txt"
            write_scores(list_scores(unit), path)
            told[path.name] = round(equal_error_of(*split_scores(read_scores(path))), 4)
    return told


def list_scores(unit: Unit) -> Iterator[ScoreLine]:
    """Give a line for every window that is tried against every template.

    Each person has three templates, one of each third: ``label`` says which, and which window.
    """
    names, scored, _ = fill_unit(unit)
    trials = try_thirds(scored, enrolled=unit.variant.enrolled, seed=unit.seed)
    chosen = (trials.own | trials.others) & scored.select("both", "tried")[:, np.newaxis]
    distances = np.nan_to_num(trials.distances, nan=_FARTHEST)
    for template, owner in enumerate(trials.owners):
        for window in np.flatnonzero(chosen[:, template]):
            yield ScoreLine(
                claimed=names[owner],
                real=names[trials.wearers[window]],
                label=f"template-{template}/window-{window}",
                score=-float(distances[window, template]),
            )


def _name(unit: Unit) -> str:
    words = "-".join(unit.variant.name.replace(",", "").replace("%", "percent").split())
    return f"{unit.experiment}.{unit.cohort.name}.{words}.fold-{unit.fold}.seed-{unit.seed}"
