"""A model on disk, adapted to another device and written beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from acclock.pipeline import Preparation
from acclock.training.adaptation import AdaptConfig, adapt_model, recipe_of
from acclock.training.checkpoint import Report
from acclock.training.export import export
from acclock.training.subjects import check_subjects, deal
from acclock.training.weights import pack
from acclock.world.corpora import gather
from acclock.world.models.files import write_model
from acclock.world.places import OnProgress
from acclock.world.runs import OnReport
from acclock.world.weights import load_weights

_FOLDS = 3
"""A third of the people is kept apart to judge by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAdaptation:
    """Where the adapted model is, and what the adaptation did for people it did not see."""

    weights: Path
    model: Path
    error_before: float
    error_after: float
    best_epoch: int


def adapt_into(
    model: str,
    places: Sequence[str],
    folder: Path,
    *,
    epochs: int = 20,
    on_progress: OnProgress = lambda *_: None,
    on_report: OnReport = lambda *_: None,
) -> WrittenAdaptation:
    """Adapt a model to the people of some data sets and write it into a folder."""
    trained, card = load_weights(model)
    config = AdaptConfig()
    config = replace(config, stage=replace(config.stage, epochs=epochs))
    prepared: Preparation = recipe_of(card, config).prepared
    corpus = gather(places, prepared, cache=folder / "windows", on_progress=on_progress)
    subjects = check_subjects(corpus.subjects, folds=_FOLDS)
    folds = deal(subjects, folds=_FOLDS, seed=config.seed)
    adapted = adapt_model(
        trained,
        card,
        [subject for subject in subjects if folds[subject.name]],
        [subject for subject in subjects if not folds[subject.name]],
        config=config,
        on_report=_count(on_report, epochs),
    )
    weights = folder / f"{adapted.card.name}.safetensors"
    written = folder / f"{adapted.card.name}.onnx"
    write_model(weights, pack(adapted.model, adapted.card))
    write_model(written, export(adapted.model, adapted.card))
    return WrittenAdaptation(
        weights=weights,
        model=written,
        error_before=adapted.error_before,
        error_after=adapted.error_after,
        best_epoch=adapted.best_epoch,
    )


def _count(on_report: OnReport, epochs: int) -> Callable[[Report], object]:
    return lambda report: on_report("adapting", report, report.epoch + 1, epochs)
