"""Units are done, by the processes of this machine or elsewhere, and kept as they are done."""

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import closing

from acclock.experiments.paper.store import Store
from acclock.experiments.paper.units import Outcome, Unit, do
from acclock.training.threads import use_threads

Done = tuple[Unit, Outcome, float]
OnDone = Callable[[str, int, int], object]
"""Hears what is being done, how many units are there, and of how many."""
Engine = Callable[[Sequence[Unit]], Generator[Done]]
"""Does units, in any order."""


def run(
    units: Sequence[Unit],
    store: Store,
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
