"""``acclock train``, ``adapt``, ``export`` and ``cohort``: how models are made."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acclock.cli.progress import Bars, needing
from acclock.cli.show import JsonFlag, show
from acclock.embedding.card import Precision
from acclock.errors import ConfigError

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
        from acclock.training.corpora import gather
        from acclock.training.on_disk import Training
        from acclock.training.on_disk import train as train_on_disk
        from acclock.training.run import use_threads
        from acclock.training.subjects import check_subjects, find_shortfalls

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
    from acclock.training.recipe import find_recipe, read_recipe  # loads torch

    return read_recipe(Path(name).read_text()) if Path(name).is_file() else find_recipe(name)


def adapt(
    model: Annotated[str, typer.Argument(help="Weights (.safetensors), or a shipped model.")],
    *,
    data: Places,
    out: Annotated[Path, typer.Option(help="A folder for the adapted model.")],
    epochs: Annotated[int, typer.Option(min=1)] = 20,
    threads: Threads = 1,
    as_json: JsonFlag = False,
) -> None:
    """Teach MODEL another device by low-rank changes, judged by people it does not learn from."""
    with needing("train"):  # torch takes seconds to load, which only this command should cost
        from acclock.training.adaptation import adapt_into
        from acclock.training.run import use_threads

    use_threads(threads)
    with Bars(quiet=as_json) as bars:
        adapted = adapt_into(
            model, data, out, epochs=epochs, on_progress=bars.work, on_report=bars.epoch
        )
    facts = {
        "model": str(adapted.model),
        "weights": str(adapted.weights),
        "equal_error_before": adapted.error_before,
        "equal_error_after": adapted.error_after,
        "best_epoch": adapted.best_epoch,
    }
    show(facts, as_json=as_json)


def export(
    model: Annotated[
        str, typer.Argument(help="A shipped model, or a file: .safetensors or .onnx.")
    ],
    *,
    onnx: Annotated[Path | None, typer.Option(help="The ONNX file to write.")] = None,
    executorch: Annotated[Path | None, typer.Option(help="The .pte program to write.")] = None,
    raw: Annotated[
        bool, typer.Option(help="Read raw acceleration, the preparation inside; ONNX only.")
    ] = False,
    precision: Annotated[Precision, typer.Option(help="Of the weights; ONNX only.")] = "float32",
    as_json: JsonFlag = False,
) -> None:
    """Write MODEL as ONNX or for ExecuTorch: windows to embeddings, or raw acceleration.

    Shipped models are copied, which needs no extra; all else is made by torch.
    """
    if onnx is not None and executorch is None:
        facts = _export_onnx(model, onnx, raw=raw, precision=precision)
    elif executorch is not None and onnx is None and not raw and precision == "float32":
        facts = _export_program(model, executorch)
    else:
        raise ConfigError("an export is one file: --onnx OUT, or --executorch OUT without more")
    show(facts, as_json=as_json)


def _export_onnx(model: str, path: Path, *, raw: bool, precision: Precision) -> dict[str, object]:
    # loads the model's runtime, which only commands that use it should
    from acclock.models.exports import copy_shipped

    copied = copy_shipped(model, path, raw=raw) if precision == "float32" else None
    if copied is not None:
        return copied
    with needing("train"):  # torch takes seconds to load, which only this command should cost
        from acclock.training.exports import export_into

    return export_into(model, path, raw=raw, precision=precision)


def _export_program(model: str, path: Path) -> dict[str, object]:
    with needing("train"):  # as above
        from acclock.training.exports import export_mobile_into

    with needing("executorch"):
        return export_mobile_into(model, path)


Data = Annotated[
    list[str], typer.Option("--data", help="Data sets of real people; only blends are kept.")
]


def cohort(
    model: Annotated[str, typer.Argument(help="A shipped model by name, or a file.")],
    *,
    data: Data = [],  # noqa: B006 - typer reads it, nobody changes it
    simulated: Annotated[int, typer.Option(min=1, help="How many simulated people.")] = 60,
    seed: Annotated[int, typer.Option(min=0)] = 1000,
    as_json: JsonFlag = False,
) -> None:
    """Make the cohort of MODEL and write it beside the model."""
    # loads the model's runtime, which only commands that embed should wait for
    from acclock.models.cohorts import cohort_path, write_cohort
    from acclock.models.files import find_model
    from acclock.models.strangers import gather_strangers

    path = cohort_path(Path(find_model(model)))
    made = gather_strangers(model, data=data, simulated=simulated, seed=seed)
    write_cohort(path, made)
    facts = {
        "written": str(path),
        "strangers": len(made),
        "people": len(made.people),
        "widest": {kind.name: round(kind.widest, 3) for kind in made.kinds},
    }
    show(facts, as_json=as_json)
