"""What is drawn of an experiment."""

from collections.abc import Mapping, Sequence

import numpy as np

from acclock.experiments.paper.charts import draw_people_chart, draw_rows
from acclock.experiments.paper.drawings import draw_days, draw_det, draw_picture, draw_points
from acclock.experiments.paper.store import Record
from acclock.experiments.paper.summary import Row, gather_rates
from acclock.experiments.paper.variants import Experiment

Held = Mapping[str, list[Record]]
"""Cohort -> what was measured of it."""
_DET = "det"
_WITH_DET = ("users", "baselines", "ablations", "device", "movements")


def draw(experiment: Experiment, held: Held, rows: Sequence[Row]) -> list[str]:
    """Draw all that can be drawn of an experiment."""
    drawn = [draw_rows(rows, title=experiment.title)]
    for cohort, records in held.items():
        title = f"{experiment.title}, {cohort}"
        drawn += _draw_people(experiment, records, title)
        drawn += _draw_series(experiment, records, cohort)
    return [one for one in drawn if one]


def _draw_people(experiment: Experiment, records: list[Record], title: str) -> list[str]:
    rates = gather_rates(records, experiment.variants[0].name)
    if experiment.name != "users" or not rates:
        return []
    return [draw_people_chart(rates, title=f"{title}: everybody, the worst first")]


def _draw_series(experiment: Experiment, records: list[Record], cohort: str) -> list[str]:
    title = f"{experiment.title}, {cohort}"
    match experiment.measure:
        case "rates" | "device" if experiment.name in _WITH_DET:
            curves = _average_det(experiment, records)
            return [draw_det(curves, title=f"{title}: FRR over FAR")] if curves else []
        case "neighbors":
            return [
                draw_points(one.outcome.series, title=f"{cohort}: {one.variant}") for one in records
            ]
        case "wavelets":
            return [
                draw_picture(rows, title=f"{cohort}, {name}: 1 s by 1 to 25 Hz")
                for one in records
                for name, rows in one.outcome.series.items()
            ]
        case "days":
            people = {k: v for one in records for k, v in one.outcome.series.items() if len(v)}
            told = f"{title}: FRR of those recorded most often, by days since enrollment"
            return [draw_days(people, title=told)] if people else []
    return []


def _average_det(
    experiment: Experiment, records: list[Record]
) -> dict[str, list[tuple[float, float]]]:
    """Average the curves of all folds and seeds, each at the same false-accept rates."""
    curves = {}
    for variant in experiment.variants:
        found = [
            np.asarray(one.outcome.series[_DET])
            for one in records
            if one.variant == variant.name and _DET in one.outcome.series
        ]
        if found:
            mean = np.mean(found, axis=0)
            curves[variant.name] = [(float(x), float(y)) for x, y in mean]
    return curves
