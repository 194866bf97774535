"""``acclock experiment``: the paper's figures and tables, measured again."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acclock.cli.progress import Bars, needing
from acclock.cli.show import JsonFlag, show
from acclock.errors import ConfigError
from acclock.experiments.paper.catalog import find_experiments
from acclock.experiments.paper.scales import SCALES, Scale

if TYPE_CHECKING:
    from acclock.experiments.paper.running import Engine


class ExperimentAction(StrEnum):
    """What to do with experiments."""

    LIST = "list"
    RUN = "run"
    REPORT = "report"
    SCORES = "scores"


class ExperimentEngine(StrEnum):
    """Who does the work: processes of this machine, or a Ray cluster."""

    LOCAL = "local"
    RAY = "ray"


What = Annotated[ExperimentAction, typer.Argument(help="list, run, report or scores.")]
Names = Annotated[list[str] | None, typer.Argument(help="Which experiments; all for no name.")]
CohortName = Annotated[str, typer.Option("--cohort", help="simulated, mscardio, or a folder.")]
Data = Annotated[Path | None, typer.Option(help="Where mscardio lies, as a folder or zip.")]
Motions = Annotated[
    Path | None, typer.Option(help="Where ClassyGlass lies: heads that move, for real hearts.")
]
ScaleName = Annotated[str, typer.Option("--scale", help="quick, standard or full.")]
Results = Annotated[Path, typer.Option(help="The folder of outcomes and reports.")]
Kept = Annotated[
    Path | None, typer.Option("--cache", help="For windows and encoders; OUT/cache by default.")
]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes; one per core by default.")]
EngineName = Annotated[ExperimentEngine, typer.Option("--engine", help="Who does the work.")]
Address = Annotated[str | None, typer.Option(help="Of a Ray cluster: host:port, or auto.")]


def experiment(
    what: What,
    names: Names = None,
    *,
    cohort: CohortName = "simulated",
    data: Data = None,
    motions: Motions = None,
    scale: ScaleName = "quick",
    out: Results = Path("experiments"),
    cache: Kept = None,
    workers: Workers = None,
    engine: EngineName = ExperimentEngine.LOCAL,
    address: Address = None,
    as_json: JsonFlag = False,
) -> None:
    """List the paper's experiments, run them on people, or report paper and ours side by side.

    ``acclock experiment run users movements --scale standard`` goes on where it was interrupted.
    ``acclock experiment scores users`` writes every score in bob's four columns into OUT/scores.
    """
    chosen = find_experiments(names or [])
    size = _find_scale(scale)
    match what:
        case ExperimentAction.LIST:
            show({one.name: f"{one.title} ({one.where})" for one in chosen}, as_json=as_json)
        case ExperimentAction.RUN:
            with needing("train"):  # torch takes seconds to load, which a list should not cost
                from acclock.experiments.paper.running import run_experiments
            with Bars(quiet=as_json) as bars:
                told = run_experiments(
                    chosen,
                    cohort=cohort,
                    data=data,
                    motions=motions,
                    scale=size,
                    out=out,
                    cache=cache or out / "cache",
                    workers=workers,
                    engine=_find_engine(engine, address, workers),
                    on_done=bars.work,
                )
            show(told, as_json=as_json)
        case ExperimentAction.SCORES:
            with needing("train"):
                from acclock.experiments.paper.cache import Cache
                from acclock.experiments.paper.cohorts import find_cohort
                from acclock.experiments.paper.scores import write_all_scores
            who = find_cohort(cohort, data, motions=motions, cache=Cache(cache or out / "cache"))
            told = write_all_scores(chosen, cohort=who, scale=size, folder=out / "scores")
            show(told, as_json=as_json)
        case ExperimentAction.REPORT:
            from acclock.experiments.paper.report import write_report  # not needed for a list

            show(write_report(chosen, scale=size, out=out), as_json=as_json)


def _find_engine(
    kind: ExperimentEngine, address: str | None, workers: int | None
) -> "Engine | None":
    if kind is ExperimentEngine.LOCAL:
        if address is not None:
            raise ConfigError("--address is that of a Ray cluster: it needs --engine ray")
        return None
    if workers is not None:
        raise ConfigError("a cluster works on all of its cores: --workers is for --engine local")
    from acclock.experiments.paper.running import do_on_cluster  # loads torch

    return partial(do_on_cluster, address=address)


def _find_scale(name: str) -> Scale:
    if name not in SCALES:
        raise ConfigError(f"there is no scale {name!r}; there are {', '.join(SCALES)}")
    return SCALES[name]
