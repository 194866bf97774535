"""Experiments, a cohort and a scale in, outcomes on disk."""

from collections.abc import Sequence
from pathlib import Path

from acclock.errors import ConfigError
from acclock.experiments.paper.cache import Cache
from acclock.experiments.paper.cohorts import MOTIONS_PUBLISHED, Cohort, find_cohort
from acclock.experiments.paper.engines import Engine, OnDone, run
from acclock.experiments.paper.scales import Scale
from acclock.experiments.paper.store import Store
from acclock.experiments.paper.units import Unit, plan_units
from acclock.experiments.paper.variants import Experiment


def run_experiments(  # noqa: PLR0913 - all that a user can choose
    experiments: Sequence[Experiment],
    *,
    cohort: str,
    data: Path | None,
    scale: Scale,
    out: Path,
    motions: Path | None = None,
    cache: Path | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    on_done: OnDone = lambda *_: None,
) -> dict[str, object]:
    """Do what is not yet done of these experiments, and say how much that was."""
    found = find_cohort(cohort, data, motions=motions, cache=Cache(cache))
    able = [one for one in experiments if can_answer(one, found)]
    if not able:
        raise ConfigError(_explain(experiments))
    units = [unit for one in able for unit in plan_units(one, found, scale)]
    # those that share an encoder together, so that each process trains it once
    ordered = sorted(units, key=_find_encoder)
    done = run(ordered, Store(out), workers=workers, engine=engine, on_done=on_done)
    return {
        "experiments": [one.name for one in able],
        "left_out": [one.name for one in experiments if one not in able],
        "units": len(units),
        "measured_now": done,
        "outcomes": str(out),
    }


def can_answer(experiment: Experiment, cohort: Cohort) -> bool:
    """Tell whether an experiment can be done with the people of a cohort."""
    if not cohort.is_real:
        return experiment.on_simulated
    return experiment.on_real_hearts and (
        not experiment.needs_motions or cohort.motions is not None
    )


def _explain(experiments: Sequence[Experiment]) -> str:
    names = ", ".join(one.name for one in experiments)
    if all(one.on_real_hearts and one.needs_motions for one in experiments):
        return (
            f"{names} needs heads that move: --motions must say where ClassyGlass lies, as a"
            f" folder or zip; it is at {MOTIONS_PUBLISHED}"
        )
    if not any(one.on_simulated for one in experiments):
        return f"people who do not exist cannot answer {names}; recorded ones can"
    return f"recordings of people at rest cannot answer {names}; simulated ones can"


def _find_encoder(unit: Unit) -> tuple[int, int, str, int, bool]:
    variant = unit.variant
    return unit.seed, unit.fold, variant.recipe, variant.learned or 0, variant.learns_lost
