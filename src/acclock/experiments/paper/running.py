"""Experiments, a cohort and a scale in, outcomes on disk."""

from collections.abc import Sequence
from pathlib import Path

from acclock.errors import ConfigError
from acclock.experiments.paper.cache import Cache
from acclock.experiments.paper.cohorts import SIMULATED, find_cohort
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
    cache: Path | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    on_done: OnDone = lambda *_: None,
) -> dict[str, object]:
    """Do what is not yet done of these experiments, and say how much that was."""
    found = find_cohort(cohort, data, cache=Cache(cache))
    able = [one for one in experiments if found.name == SIMULATED or one.on_real_hearts]
    if not able:
        names = ", ".join(one.name for one in experiments)
        raise ConfigError(f"recordings of people at rest cannot answer {names}; simulated ones can")
    units = [unit for one in able for unit in plan_units(one, found, scale)]
    # those that share an encoder together, so that each process trains it once
    ordered = sorted(units, key=_find_encoder)
    done = run(ordered, Store(out), workers=workers, engine=engine, on_done=on_done)
    return {
        "experiments": [one.name for one in able],
        "units": len(units),
        "measured_now": done,
        "outcomes": str(out),
    }


def _find_encoder(unit: Unit) -> tuple[int, int, str, int, bool]:
    variant = unit.variant
    return unit.seed, unit.fold, variant.recipe, variant.learned or 0, variant.learns_lost
