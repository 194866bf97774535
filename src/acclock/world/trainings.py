"""A training on disk: put aside after every epoch, gone on with after a crash, and its results."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from acclock.embedding.card import Card, hash_person
from acclock.errors import ConfigError
from acclock.training.checkpoint import Checkpoint, Report
from acclock.training.export import export
from acclock.training.grid import fingerprint
from acclock.training.judging import Trials, pool, try_all
from acclock.training.recipe import Recipe
from acclock.training.recipes import write_recipe
from acclock.training.run import Run
from acclock.training.scalars import Scalars
from acclock.training.subjects import Subject, check_subjects, deal
from acclock.training.weights import pack
from acclock.world.corpora import Corpus
from acclock.world.models.files import write_model
from acclock.world.replacing import replacing

OnReport = Callable[[str, Report, int, int], object]
"""Hears which run it is, what the epoch came to, how many are done, and of how many."""

_AVERAGED = (1, 5, 15)
"""Windows whose distances are averaged for a decision."""


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


def train(training: Training, *, on_report: OnReport = lambda *_: None) -> Trained:
    """Cross-validate a recipe, then train the model on everyone for as long as was best.

    In every fold the people of one group are kept apart to judge by. The last run keeps nobody
    apart, so the figures of the model are those of the folds.

    Paper: Sec. 7.1.1.
    """
    recipe = training.recipe
    subjects = check_subjects(training.corpus.subjects, folds=recipe.folds)
    claim(training, subjects)
    folds = deal(subjects, folds=recipe.folds, seed=recipe.seed)
    runs = []
    for fold in range(recipe.folds):
        learned = [subject for subject in subjects if folds[subject.name] != fold]
        judges = [subject for subject in subjects if folds[subject.name] == fold]
        run = Run(recipe, learned, judges)
        go_on(run, training.folder / f"fold-{fold + 1}", on_report=on_report)
        runs.append((run, try_all(run.model, judges, axes=recipe.axes)))
    metrics = measure(pool([trials for _, trials in runs]))
    metrics |= _measure_last([run for run, _ in runs])
    epochs = _average_epochs([run for run, _ in runs])
    final = Run(_shorten(recipe, epochs), subjects)
    go_on(final, training.folder / "everyone", on_report=on_report)
    return _write(training, final, subjects, metrics, epochs)


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


def go_on(run: Run, folder: Path, *, on_report: OnReport = lambda *_: None) -> None:
    """Bring a run to its end from wherever it was put aside, and put it aside every epoch."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "checkpoint.safetensors"
    if file.is_file():
        run.take_up(Checkpoint.from_bytes(file.read_bytes()))
    scalars = Scalars(folder)
    while not run.finished:
        report = run.advance()
        with replacing(file) as opened:
            opened.write(run.put_aside().to_bytes())
        scalars.add(report)
        on_report(folder.name, report, len(run.reports), run.length)
    scalars.close()


def measure(pooled: Sequence[Trials]) -> dict[str, float]:
    """Give the equal error of each data set, with its interval over people."""
    return dict(_name_metrics(pooled))


def _name_metrics(pooled: Sequence[Trials]) -> Iterator[tuple[str, float]]:
    for trials in pooled:
        source = trials.source.lower()
        yield f"{source}_people", float(trials.people)
        for windows in _AVERAGED:
            name = f"{source}_equal_error_{windows}"
            low, high = trials.interval(windows=windows)
            yield name, trials.error(windows=windows)
            yield f"{name}_low", low
            yield f"{name}_high", high


def _measure_last(runs: Sequence[Run]) -> dict[str, float]:
    """Give the mean error of the folds at the best and at the last epoch, which nobody chose."""
    last = [run.reports[-1].error or 0.0 for run in runs]
    stage = runs[0].reports[-1].stage
    best = [min(r.error or 0.0 for r in run.reports if r.stage == stage) for run in runs]
    count = len(runs)
    return {
        "fold_mean_equal_error_best": sum(best) / count,
        "fold_mean_equal_error_last": sum(last) / count,
    }


def _average_epochs(runs: Sequence[Run]) -> dict[str, int]:
    best = [run.best_epochs() for run in runs]
    return {stage: round(sum(one[stage] for one in best) / len(best)) for stage in best[0]}


def _shorten(recipe: Recipe, epochs: dict[str, int]) -> Recipe:
    network = replace(recipe.network_stage, epochs=epochs["network"])
    length = epochs.get("embedding", recipe.embedding_stage.epochs)
    embedding = replace(recipe.embedding_stage, epochs=length)
    return replace(recipe, network_stage=network, embedding_stage=embedding)


def _write(
    training: Training,
    run: Run,
    subjects: Sequence[Subject],
    metrics: dict[str, float],
    epochs: dict[str, int],
) -> Trained:
    recipe = training.recipe
    card = Card(
        name=training.name,
        version=training.version,
        network=recipe.network,
        config=asdict(recipe.network_config),
        rate_hz=recipe.rate_hz,
        axes=recipe.axes,
        window_length=recipe.shape.length,
        embedding_width=run.model.embedding_width,
        preparation=recipe.preparation,
        denoiser=fingerprint(recipe.prepared),
        training_data=training.corpus.credit(subjects),
        people=tuple(hash_person(subject.name) for subject in subjects),
        license="Apache-2.0",
        metrics={name: round(value, 4) for name, value in metrics.items()},
    )
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
    )


def _hash(subjects: Sequence[Subject]) -> str:
    digest = hashlib.sha256()
    for subject in subjects:
        digest.update(subject.name.encode())
        for session in subject.sessions:
            digest.update(session.recording.samples.tobytes())
            digest.update(session.grid.windows.tobytes())
    return digest.hexdigest()[:32]
