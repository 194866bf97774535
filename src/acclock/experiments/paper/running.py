"""Experiments run: units computed here or on a Ray cluster, outcomes kept on disk."""

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from acclock.errors import ClusterError, ConfigError
from acclock.experiments.paper.cache import Cache
from acclock.experiments.paper.cohorts import MOTIONS_PUBLISHED, StudyCohort, find_cohort
from acclock.experiments.paper.scales import Scale
from acclock.experiments.paper.store import OutcomeStore
from acclock.experiments.paper.units import Outcome, Unit, do, plan_units
from acclock.experiments.paper.variants import Experiment
from acclock.system.cluster import joined
from acclock.training.run import use_threads

Done = tuple[Unit, Outcome, float]
OnDone = Callable[[str, int, int], object]
"""Hears what is being done, how many units are there, and of how many."""
Engine = Callable[[Sequence[Unit]], Generator[Done]]
"""Does units, in any order."""


def run(
    units: Sequence[Unit],
    store: OutcomeStore,
    *,
    workers: int | None = None,
    engine: Engine | None = None,
    on_done: OnDone = lambda *_: None,
) -> int:
    """Do the units that the store does not hold, keep each as it is done, and say how many."""
    missing = [unit for unit in units if store.find(unit) is None]
    begun = _do_all(missing, workers) if engine is None else engine(missing)
    with closing(begun) as done:  # whoever interrupts this interrupts the work too
        for number, (unit, outcome, seconds) in enumerate(done):
            store.put(unit, outcome, seconds=seconds)
            on_done("measuring units", len(units) - len(missing) + number + 1, len(units))
    return len(missing)


def do_timed(unit: Unit) -> Done:
    """Measure a unit on one core, and how long it took."""
    use_threads(1)
    begun = time.perf_counter()
    return unit, do(unit), time.perf_counter() - begun


def _do_all(units: Sequence[Unit], workers: int | None) -> Generator[Done]:
    count = min(workers or os.cpu_count() or 1, len(units))
    if count <= 1:
        yield from map(do_timed, units)
        return
    with ProcessPoolExecutor(count) as pool:
        yield from _collect(pool, units)


def _collect(pool: Executor, units: Sequence[Unit]) -> Iterator[Done]:
    waiting = [pool.submit(do_timed, unit) for unit in units]
    try:
        for one in as_completed(waiting):
            yield one.result()
    finally:
        for one in waiting:
            one.cancel()


_MOST_LOST = 10
"""Nodes or processes that may die under one unit; then it is the unit that kills them."""


def do_on_cluster(units: Sequence[Unit], *, address: str | None) -> Generator[Done]:
    """Do units wherever the cluster has a core, and give each as it is done."""
    if not units:
        return
    with joined(address):
        import ray  # has been loaded, quietly

        task = ray.remote(num_cpus=1, max_retries=_MOST_LOST)(do_as_known)
        waiting = [task.remote(_place(unit), unit.key) for unit in units]
        while waiting:
            (done,), waiting = ray.wait(waiting)
            try:
                yield ray.get(done)
            except ray.exceptions.RayTaskError as error:
                raise error.cause from error
            except ray.exceptions.RayError as error:
                said = str(error).partition("\n")[0].rstrip(".")
                raise ClusterError(f"the cluster could not do a unit: {said}") from error


def do_as_known(unit: Unit, key: str) -> Done:
    """Do a unit, unless this node would do another one under its name."""
    if unit.key != key:
        raise ClusterError("a node of the cluster has another version of AccLock than this one")
    return do_timed(unit)


def _place(unit: Unit) -> Unit:
    """Name the data by a path that holds in any working directory."""
    path = unit.cohort.path
    return unit if path is None else replace(unit, cohort=replace(unit.cohort, path=path.resolve()))


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
    done = run(ordered, OutcomeStore(out), workers=workers, engine=engine, on_done=on_done)
    return {
        "experiments": [one.name for one in able],
        "left_out": [one.name for one in experiments if one not in able],
        "units": len(units),
        "measured_now": done,
        "outcomes": str(out),
    }


def can_answer(experiment: Experiment, cohort: StudyCohort) -> bool:
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
