"""The scores of an experiment, written for other people's tools."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from acclock.errors import ConfigError
from acclock.experiments.paper.bob import ScoreLine, read_scores, split_scores, write_scores
from acclock.experiments.paper.cohorts import Cohort
from acclock.experiments.paper.measures.rates import fill_unit
from acclock.experiments.paper.protocol import try_thirds
from acclock.experiments.paper.scales import Scale
from acclock.experiments.paper.units import Unit, plan_units
from acclock.experiments.paper.variants import Experiment
from acclock.experiments.scores import equal_error_of

_FARTHEST = 2.0
"""Between unit vectors; what has no distance is rejected, and nothing lies farther."""


def write_all_scores(
    experiments: Sequence[Experiment], *, cohort: Cohort, scale: Scale, folder: Path
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
    names, hall, _ = fill_unit(unit)
    trials = try_thirds(hall, enrolled=unit.variant.enrolled, seed=unit.seed)
    chosen = (trials.own | trials.others) & hall.select("both", "tried")[:, np.newaxis]
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
