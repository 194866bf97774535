"""``acclock train``: recordings in, a model out."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acclock.cli.extras import needing
from acclock.cli.progress import Bars
from acclock.cli.show import JsonFlag, show

if TYPE_CHECKING:
    from acclock.training.recipe import Recipe

Places = Annotated[
    list[str],
    typer.Option(
        "--data",
        help="A data set as a folder or zip, or simulated:PEOPLE. May be given several times.",
    ),
]
Threads = Annotated[int, typer.Option(min=1, help="Cores that torch may use.")]


def train(
    recipe: Annotated[str, typer.Argument(help="'views', 'fast', 'paper', or a TOML file.")],
    *,
    data: Places,
    out: Annotated[Path, typer.Option(help="A folder; one with this training is gone on with.")],
    name: Annotated[str, typer.Option(help="What the model is called.")] = "model",
    threads: Threads = 1,
    as_json: JsonFlag = False,
) -> None:
    """Cross-validate RECIPE on people it does not see, then train a model on everyone.

    The errors of the shipped model on the same people are printed beside those of the new one.
    """
    with needing("train"):  # torch takes seconds to load, which only this command should cost
        from acclock.training.subjects import check_subjects
        from acclock.training.sufficiency import find_shortfalls
        from acclock.training.threads import use_threads
        from acclock.world.corpora import gather
        from acclock.world.trainings import Training
        from acclock.world.trainings import train as train_on_disk

    chosen = _find_recipe(recipe)
    use_threads(threads)
    with Bars(quiet=as_json) as bars:
        corpus = gather(data, chosen.prepared, cache=out / "windows", on_progress=bars.work)
        shortfalls = find_shortfalls(check_subjects(corpus.subjects, folds=chosen.folds))
        _warn(shortfalls)  # before the hours that it may take
        training = Training(recipe=chosen, corpus=corpus, folder=out, name=name)
        trained = train_on_disk(training, on_report=bars.epoch)
    unbeaten = trained.shipped.find_unbeaten(trained.metrics)
    facts = {"model": str(trained.model), "weights": str(trained.weights)}
    told = {"epochs": trained.epochs, "metrics": trained.metrics, "data": list(trained.data)}
    beside = {"shipped": asdict(trained.shipped), "warnings": shortfalls + unbeaten}
    lines = {"equal_error": trained.shipped.compare(trained.metrics)}
    show(facts | told | (beside if as_json else lines), as_json=as_json)
    _warn(unbeaten)


def _warn(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        print(f"acclock: {sentence}", file=sys.stderr)


def _find_recipe(name: str) -> "Recipe":
    from acclock.training.recipes import find_recipe, read_recipe  # loads torch

    return read_recipe(Path(name).read_text()) if Path(name).is_file() else find_recipe(name)
