"""A training on disk: whose folder it is, its folds, and the model that comes of it."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from acclock.embedding.card import Card
from acclock.errors import ConfigError
from acclock.live.evidence import WINDOW_S
from acclock.models.files import write_model
from acclock.pipeline import Preparation
from acclock.system.files import replacing
from acclock.training.checkpoint import load_weights, pack
from acclock.training.corpora import Corpus
from acclock.training.export import describe_model, export
from acclock.training.grid import bring_to, fingerprint, lay_grid
from acclock.training.judging import DatasetTrials, pool, try_all
from acclock.training.recipe import Recipe, write_recipe
from acclock.training.run import OnReport, Run, go_on
from acclock.training.subjects import Subject, SubjectSession, check_subjects, deal

_AVERAGED = (1, 5, 15)
"""Windows whose distances are averaged for a decision."""


def measure(pooled: Sequence[DatasetTrials]) -> dict[str, float]:
    """Give the equal error of each data set, with its interval over people."""
    return dict(_name_metrics(pooled))


def _name_metrics(pooled: Sequence[DatasetTrials]) -> Iterator[tuple[str, float]]:
    for trials in pooled:
        source = trials.source.lower()
        yield f"{source}_people", float(trials.people)
        for windows in _AVERAGED:
            name = f"{source}_equal_error_{windows}"
            low, high = trials.interval(windows=windows)
            yield name, trials.error(windows=windows)
            yield f"{name}_low", low
            yield f"{name}_high", high


def measure_last(runs: Sequence[Run]) -> dict[str, float]:
    """Give the mean error of the folds at the best and at the last epoch, which nobody chose."""
    last = [run.reports[-1].error or 0.0 for run in runs]
    stage = runs[0].reports[-1].stage
    best = [min(r.error or 0.0 for r in run.reports if r.stage == stage) for run in runs]
    count = len(runs)
    return {
        "fold_mean_equal_error_best": sum(best) / count,
        "fold_mean_equal_error_last": sum(last) / count,
    }


def average_epochs(runs: Sequence[Run]) -> dict[str, int]:
    """Give for each stage how many epochs were best, on average over the folds."""
    best = [run.best_epochs() for run in runs]
    return {stage: round(sum(one[stage] for one in best) / len(best)) for stage in best[0]}


_MODELS = {100.0: "default", 75.0: "default-50", 50.0: "default-50", 25.0: "default-25"}
"""The rate of a recipe to the shipped model for earphones that sample so often."""
_COMPARED = 5
"""Windows whose mean decides which of two models is said to do better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedErrors:
    """The errors of a shipped model in the trials of a training."""

    model: str
    metrics: Mapping[str, float]
    """As :func:`~acclock.training.on_disk.measure` gives them."""
    known_people: int
    """How many of these people it learned from itself, which flatters it."""

    @property
    def reservation(self) -> str:
        """What to know beside its errors; empty where it has met nobody."""
        known = self.known_people
        return f" (it learned from {known} of these people)" if known else ""

    def compare(self, metrics: Mapping[str, float]) -> list[str]:
        """Give a line for each data set and number of windows: another model beside this one."""
        return [
            f"{name.replace('_equal_error_', ', windows averaged: ')}:"
            f" {metrics[name]:.1%}, the shipped {self.model}{self.reservation}: {theirs:.1%}"
            for name, theirs in self.metrics.items()
            if name in metrics and name.rpartition("_")[2].isdecimal()
        ]

    def find_unbeaten(self, metrics: Mapping[str, float]) -> list[str]:
        """Say on which data sets another model, with these metrics, errs no less than this one."""
        ending = f"_equal_error_{_COMPARED}"
        return [
            f"on {name.removesuffix(ending)} this model errs in {metrics[name]:.1%} and the shipped"
            f" {self.model}{self.reservation} in {theirs:.1%} (mean of {_COMPARED} windows):"
            " use the shipped one, or record more people"
            for name, theirs in self.metrics.items()
            if name.endswith(ending) and name in metrics and not metrics[name] < theirs
        ]


def measure_shipped(subjects: Sequence[Subject], recipe: Recipe) -> ShippedErrors:
    """Try the shipped model for a recipe's rate on the same people, in the same folds.

    It reads windows that are prepared as it wants them, whatever the recipe's are.
    """
    name = _MODELS[recipe.rate_hz]
    model, card = load_weights(name)
    folds = deal(subjects, folds=recipe.folds, seed=recipe.seed)
    prepared = [(folds[one.name], _prepare(one, recipe, card)) for one in subjects]
    tried = [
        try_all(model, [one for fold, one in prepared if fold == n], axes=card.axes)
        for n in range(recipe.folds)
    ]
    return ShippedErrors(
        model=name,
        metrics=measure(pool(tried)),
        known_people=sum(card.learned_from(subject.name) for subject in subjects),
    )


def _prepare(subject: Subject, recipe: Recipe, card: Card) -> Subject:
    if fingerprint(recipe.prepared) == card.denoiser:
        return subject
    preparation = Preparation.of(card)
    recordings = [bring_to(one.recording, card.rate_hz) for one in subject.sessions]
    sessions = tuple(
        SubjectSession(recording=recording, grid=lay_grid(recording, preparation))
        for recording in recordings
    )
    return replace(subject, sessions=sessions)


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
