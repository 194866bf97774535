"""``acclock evaluate``: how well a model tells people apart whom it has never met."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, TaskID

from acclock.cli.show import JsonFlag, show
from acclock.experiments.evaluation import evaluate_folds
from acclock.experiments.panels import Panel
from acclock.experiments.participants import DatasetName, gather
from acclock.experiments.report import describe, summarize
from acclock.experiments.trials import FEWEST_RECORDINGS, ProtocolName
from acclock.matching.threshold import rule_named
from acclock.models.cohorts import cohort_path, read_cohort
from acclock.models.files import find_model, read_model
from acclock.plots.det import draw_det

Models = Annotated[
    list[str],
    typer.Option("--model", help="A name or file; several are the folds of one training."),
]


def evaluate(
    dataset: Annotated[DatasetName, typer.Argument(help="What kind of data set PATH is.")],
    path: Annotated[
        str, typer.Argument(help="A folder or zip; FILE.zip#activity=reading takes a part of it.")
    ],
    *,
    protocol: Annotated[ProtocolName, typer.Option(help="What enrolls.")] = "cross-session",
    model: Models = ["default"],  # noqa: B006 - typer reads it, nobody changes it
    rule: Annotated[str | None, typer.Option(help="Of the threshold, as in `enroll`.")] = None,
    gated: Annotated[bool, typer.Option("--gated", help="Turn windows with a fault away.")] = False,
    det: Annotated[Path | None, typer.Option(help="Draw the DET curves into this picture.")] = None,
    people: Annotated[int | None, typer.Option(min=2, help="Only the first so many.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Enroll the people of a data set, try everybody against everyone, and count the errors."""
    with Progress(disable=as_json, transient=True) as progress:
        panels, notes = _seat(dataset, path, model, protocol, people, progress)
        chosen = None if rule is None else rule_named(rule)
        panels = [replace(panel, rule=chosen) for panel in panels]
        progress.add_task("measuring", total=None)
        result = evaluate_folds(panels, protocol=protocol, gated=gated)
    if det is not None:
        title = "\n".join([f"{dataset}, {protocol}", *notes[:1]])
        draw_det(result.named_curves, det, title=title)
    word = describe if as_json else summarize
    facts = word(result, card=panels[0].embedder.card, notes=notes)
    picture = {"picture": str(det)} if det else {}
    show(facts | picture, as_json=as_json, title=f"{dataset} {path}")


def _seat(
    dataset: DatasetName,
    path: str,
    models: list[str],
    protocol: ProtocolName,
    people: int | None,
    progress: Progress,
) -> tuple[list[Panel], tuple[str, ...]]:
    """Put each model beside the people it never met."""
    # the runtime of networks takes a while to load; only who embeds should wait for it
    from acclock.embedding.embedder import Embedder

    panels: list[Panel] = []
    notes: tuple[str, ...] = ()
    for name in models:
        file = find_model(name)
        embedder = Embedder(read_model(file))
        strangers = cohort_path(file)
        cohort = read_cohort(strangers, model=embedder.fingerprint) if strangers.is_file() else None
        task = progress.add_task(f"reading for {embedder.card.name}", total=None)
        found = gather(
            dataset,
            path,
            card=embedder.card,
            cohort=cohort,
            fewest_recordings=FEWEST_RECORDINGS[protocol],
            most_people=people,
            on_progress=partial(_advance, progress, task),
        )
        panels.append(Panel(participants=found.participants, embedder=embedder, cohort=cohort))
        notes = found.notes
    return panels, notes


def _advance(progress: Progress, task: TaskID, done: int, total: int) -> None:
    progress.update(task, completed=done, total=total)
