"""A training on disk: whose folder it is, what is run in it, and the model that it leaves."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from acclock.embedding.card import Card
from acclock.errors import ConfigError
from acclock.session.evidence import WINDOW_S
from acclock.training.describing import describe_model
from acclock.training.export import export
from acclock.training.figures import average_epochs, measure, measure_last
from acclock.training.judging import pool, try_all
from acclock.training.recipe import Recipe
from acclock.training.recipes import write_recipe
from acclock.training.run import Run
from acclock.training.subjects import Subject, check_subjects, deal
from acclock.training.weights import pack
from acclock.world.corpora import Corpus
from acclock.world.models.files import write_model
from acclock.world.replacing import replacing
from acclock.world.runs import OnReport, go_on
from acclock.world.shipped_errors import ShippedErrors, measure_shipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """What is trained, on whom, and where everything goes."""

    recipe: Recipe
    corpus: Corpus
    folder: Path
    name: str = "model"
    version: str = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """Where the model is, and how well its kind does on people it has not seen."""

    weights: Path
    model: Path
    metrics: dict[str, float]
    data: tuple[str, ...]
    epochs: dict[str, int]
    """How long each stage was trained: as long as was best for unseen people, on average."""
    shipped: ShippedErrors
    """How well the shipped model does on the same people."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Validation:
    """What became of the folds of a training."""

    subjects: tuple[Subject, ...]
    runs: tuple[Run, ...]
    models: tuple[Path, ...]
    """One of each fold, to be evaluated on those whom it never met."""
    metrics: dict[str, float]


def train(training: Training, *, on_report: OnReport = lambda *_: None) -> Trained:
    """Cross-validate a recipe, then train the model on everyone for as long as was best.

    The last run keeps nobody apart, so the figures of the model are those of the folds.

    Paper: Sec. 7.1.1.
    """
    if training.recipe.window_s != WINDOW_S:
        raise ConfigError(
            f"sessions decide on windows of {WINDOW_S:g} s; a model for windows of"
            f" {training.recipe.window_s:g} s could not be used"
        )
    found = cross_validate(training, on_report=on_report)
    epochs = average_epochs(found.runs)
    final = Run(_shorten(training.recipe, epochs), found.subjects)
    go_on(final, training.folder / "everyone", on_report=on_report)
    return _write(training, final, found, epochs)


def cross_validate(training: Training, *, on_report: OnReport = lambda *_: None) -> Validation:
    """Train a recipe once for every fold, on all people but those of the fold."""
    recipe = training.recipe
    subjects = check_subjects(training.corpus.subjects, folds=recipe.folds)
    claim(training, subjects)
    folds = deal(subjects, folds=recipe.folds, seed=recipe.seed)
    runs, models, tried = [], [], []
    for fold in range(recipe.folds):
        learned = [subject for subject in subjects if folds[subject.name] != fold]
        judges = [subject for subject in subjects if folds[subject.name] == fold]
        run, place = Run(recipe, learned, judges), training.folder / f"fold-{fold + 1}"
        go_on(run, place, on_report=on_report)
        models.append(place / "model.onnx")
        write_model(models[-1], export(run.model, _describe(training, run, learned)))
        tried.append(try_all(run.model, judges, axes=recipe.axes))
        runs.append(run)
    chosen = measure_last(runs) if recipe.keep == "best" else {}
    return Validation(
        subjects=tuple(subjects),
        runs=tuple(runs),
        models=tuple(models),
        metrics=measure(pool(tried)) | chosen,
    )


def claim(training: Training, subjects: Sequence[Subject]) -> None:
    """Make a folder this training's own, or find that it is; another's is refused."""
    told = {"recipe": json.loads(write_recipe(training.recipe)), "data": _hash(subjects)}
    file = training.folder / "training.json"
    training.folder.mkdir(parents=True, exist_ok=True)
    if file.is_file():
        if json.loads(file.read_text()) != told:
            raise ConfigError(
                f"{training.folder} holds a training with another recipe or other recordings;"
                " train into a new folder"
            )
        return
    with replacing(file) as opened:
        opened.write(json.dumps(told, indent=2).encode())


def _shorten(recipe: Recipe, epochs: dict[str, int]) -> Recipe:
    stages = {"network": recipe.network_stage, "embedding": recipe.embedding_stage}
    network, embedding = (
        replace(stage, epochs=epochs.get(name, stage.epochs)) for name, stage in stages.items()
    )
    return replace(recipe, network_stage=network, embedding_stage=embedding)


def _describe(
    training: Training,
    run: Run,
    subjects: Sequence[Subject],
    metrics: Mapping[str, float] = MappingProxyType({}),
) -> Card:
    return describe_model(
        run.model,
        training.recipe,
        name=training.name,
        version=training.version,
        people=[subject.name for subject in subjects],
        training_data=training.corpus.credit(subjects),
        license="Apache-2.0",
        metrics=metrics,
    )


def _write(training: Training, run: Run, found: Validation, epochs: dict[str, int]) -> Trained:
    card = _describe(training, run, found.subjects, found.metrics)
    weights = training.folder / f"{training.name}.safetensors"
    model = training.folder / f"{training.name}.onnx"
    write_model(weights, pack(run.model, card))
    write_model(model, export(run.model, card))
    return Trained(
        weights=weights,
        model=model,
        metrics=dict(card.metrics),
        data=card.training_data,
        epochs=epochs,
        shipped=measure_shipped(found.subjects, training.recipe),
    )


def _hash(subjects: Sequence[Subject]) -> str:
    digest = hashlib.sha256()
    for subject in subjects:
        digest.update(subject.name.encode())
        for session in subject.sessions:
            digest.update(session.recording.samples.tobytes())
            digest.update(session.grid.windows.tobytes())
    return digest.hexdigest()[:32]
