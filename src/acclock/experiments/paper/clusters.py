"""Units are done by the nodes of a Ray cluster; those of a node that dies are done again."""

from collections.abc import Generator, Sequence
from dataclasses import replace

from acclock.errors import ClusterError
from acclock.experiments.paper.engines import Done, do_timed
from acclock.experiments.paper.units import Unit
from acclock.world.cluster import joined

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
