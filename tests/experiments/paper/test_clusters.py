"""The same units on a cluster: the same outcomes, also when a node dies over them."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acclock.errors import ClusterError, UnreadableError
from acclock.experiments.paper.cohorts import StudyCohort
from acclock.experiments.paper.running import do_as_known, do_on_cluster, run
from acclock.experiments.paper.store import OutcomeStore
from acclock.experiments.paper.units import Unit

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster as Nodes

MakeUnit = Callable[..., Unit]


@pytest.fixture(scope="module")
def units(make_unit: MakeUnit) -> list[Unit]:
    variants = ("5 windows", "10 windows")
    return [make_unit("registration", one, fold=fold) for one in variants for fold in range(3)]


def outcomes(folder: Path) -> list[Any]:
    """Give what is on disk, without how long each took."""
    (file,) = folder.glob("*.json")
    return [one | {"seconds": None} for one in json.loads(file.read_text())["units"]]


def is_busy(node: Any) -> bool:  # noqa: ANN401 - a class without a public name
    """Tell whether a node is at work on a unit, by what its processes call themselves."""
    raylet = node.all_processes["raylet"][0].process.pid
    for children in Path(f"/proc/{raylet}/task").glob("*/children"):
        for child in children.read_text().split():
            with suppress(FileNotFoundError):  # it has just ended
                if Path(f"/proc/{child}/cmdline").read_bytes().startswith(b"ray::do_as_known"):
                    return True
    return False


def kill_a_busy_node(nodes: "Nodes") -> None:
    """Wait until the node that nobody is connected to works on a unit, and kill it."""
    (node,) = nodes.worker_nodes
    while not is_busy(node):
        time.sleep(0.05)
    nodes.remove_node(node, allow_graceful=False)


def test_neither_an_interruption_nor_a_dead_node_changes_an_outcome(
    ray_nodes: "Nodes", units: list[Unit], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    here, there = tmp_path / "here", tmp_path / "there"
    engine = partial(do_on_cluster, address=ray_nodes.address)
    run(units, OutcomeStore(here), workers=1)

    with pytest.raises(KeyboardInterrupt):
        run(units, OutcomeStore(there), engine=engine, on_done=interrupt)
    while any(is_busy(node) for node in ray_nodes.worker_nodes):
        time.sleep(0.05)
    with ThreadPoolExecutor(1) as pool:
        killing = pool.submit(kill_a_busy_node, ray_nodes)
        rest = run(units, OutcomeStore(there), engine=engine)
        killing.result()

    captured = capsys.readouterr()
    assert rest == len(units) - 1
    assert outcomes(there) == outcomes(here)
    assert "will be retried" in captured.err  # the dead node had a unit indeed
    assert captured.out == ""


def test_what_a_node_refuses_is_refused_here(ray_nodes: "Nodes", units: list[Unit]) -> None:
    gone = StudyCohort(
        name="gone", path=Path("gone.zip"), fingerprint="of data only this machine has"
    )
    unit = replace(units[0], cohort=gone)

    with pytest.raises(UnreadableError, match=str(Path("gone.zip").resolve())):
        list(do_on_cluster([unit], address=ray_nodes.address))


def test_a_node_of_another_version_does_nothing(units: list[Unit]) -> None:
    with pytest.raises(ClusterError, match="another version"):
        do_as_known(units[0], "the name that the others have for it")
