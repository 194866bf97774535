"""``acclock evaluate``: how well a model tells people apart whom it has never met."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from acclock.cli.show import JsonFlag, show
from acclock.experiments.evaluation import evaluate as run
from acclock.experiments.gathering import DatasetName, gather
from acclock.experiments.pictures import draw_det
from acclock.experiments.protocols import FEWEST_RECORDINGS, ProtocolName
from acclock.experiments.report import describe, tell
from acclock.world.models.cohorts import cohort_path, read_cohort
from acclock.world.models.files import find_model, read_model


def evaluate(
    dataset: Annotated[DatasetName, typer.Argument(help="What kind of data set PATH is.")],
    path: Annotated[Path, typer.Argument(help="A folder or zip of recordings.")],
    *,
    protocol: Annotated[ProtocolName, typer.Option(help="What enrolls.")] = "cross-session",
    model: Annotated[str, typer.Option(help="A model by its name or file.")] = "default",
    det: Annotated[Path | None, typer.Option(help="Draw the DET curves into this picture.")] = None,
    people: Annotated[int | None, typer.Option(min=2, help="Only the first so many.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Enroll the people of a data set, try everybody against everyone, and count the errors."""
    # the runtime of networks takes a while to load; only who embeds should wait for it
    from acclock.embedding.embedder import Embedder

    file = find_model(model)
    embedder = Embedder(read_model(file))
    strangers = cohort_path(file)
    cohort = read_cohort(strangers, model=embedder.fingerprint) if strangers.is_file() else None
    with Progress(disable=as_json, transient=True) as progress:
        task = progress.add_task("reading", total=None)
        found = gather(
            dataset,
            path,
            card=embedder.card,
            fewest_recordings=FEWEST_RECORDINGS[protocol],
            most_people=people,
            on_progress=lambda done, total: progress.update(task, completed=done, total=total),
        )
        progress.update(task, description="measuring", total=None)
        result = run(found.participants, embedder, protocol=protocol, cohort=cohort)
    if det is not None:
        title = "\n".join([f"{dataset}, {protocol}", *found.notes[:1]])
        draw_det(result.named_curves, det, title=title)
    word = describe if as_json else tell
    facts = word(result, card=embedder.card, notes=found.notes)
    picture = {"picture": str(det)} if det else {}
    show(facts | picture, as_json=as_json, title=f"{dataset} {path}")
