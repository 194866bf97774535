"""Models that have not met the people they are tried on: ``python -m benchmarks.folds``.

The shipped recipe is trained three times, each time on everybody but a third of the development
people, and each model gets a cohort of the people it learned from. Everything lands in a folder
(``ACCLOCK_FOLDS``, or ``.folds`` in the project) and is found there again: what is already made is
not made twice, and a training that was interrupted goes on. ``--deal`` splits the people otherwise:
what is chosen is chosen on other deals than the reported one, which is 0.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from acclock.embedding.embedder import Embedder
from acclock.errors import AccLockError
from acclock.matching.cohort import Cohort
from acclock.models.cohorts import cohort_path, read_cohort, write_cohort
from acclock.models.files import find_model, read_model
from acclock.models.strangers import gather_strangers
from acclock.pipeline import Preparation
from acclock.values import FloatArray

FOLDS = 3
REPORTED_DEAL = 0
RESTING = "#activity=reading,typing,writing,browsing,computer"
PROJECT = Path(__file__).parents[1]
RECIPE = PROJECT / "src" / "acclock" / "world" / "models" / "default.toml"


@dataclass(frozen=True, kw_only=True, eq=False)
class Encoder:
    """A model and the strangers that its users are measured against."""

    embedder: Embedder
    cohort: Cohort

    @cached_property
    def preparation(self) -> Preparation:
        return Preparation.of(self.embedder.card)

    def embed(self, windows: FloatArray) -> FloatArray:
        return self.embedder.embed(windows[:, : self.embedder.card.axes])

    def has_met(self, person: str) -> bool:
        """Whether model or cohort were made from this person's recordings."""
        known = self.embedder.card.learned_from(person)
        return known or self.cohort.was_made_from(person)


def read_encoder(model: Path) -> Encoder:
    embedder = Embedder(read_model(model))
    cohort = read_cohort(cohort_path(model), model=embedder.fingerprint)
    return Encoder(embedder=embedder, cohort=cohort)


def shipped_encoder() -> Encoder:
    return read_encoder(Path(find_model("default")))


def read_folds(deal: int = REPORTED_DEAL) -> list[Encoder]:
    """Give the encoder of each fold, or say how they are made."""
    models = [find_folder(deal) / f"fold-{n + 1}" / "model.onnx" for n in range(FOLDS)]
    if not all(cohort_path(model).is_file() for model in models):
        wanted = f" --deal {deal}" if deal else ""
        sys.exit(f"there are no fold models yet; make them: python -m benchmarks.folds{wanted}")
    return [read_encoder(model) for model in models]


def find_folder(deal: int) -> Path:
    return Path(os.environ.get("ACCLOCK_FOLDS", PROJECT / ".folds")) / f"deal-{deal}"


def make_folds(data: Path, deal: int = REPORTED_DEAL) -> None:
    """Train the model of each fold, and gather its cohort, where they are missing."""
    from acclock.training.corpora import gather
    from acclock.training.on_disk import Training, cross_validate
    from acclock.training.recipe import read_recipe  # torch, which reading them does not need

    folder = find_folder(deal)
    recipe = read_recipe(RECIPE.read_text(encoding="utf-8"))
    recipe = replace(recipe, seed=recipe.seed + deal)
    places = [str(data / "mscardio-dev.zip"), f"{data / 'classyglass-dev.zip'}{RESTING}"]
    windows = folder.parent / "windows"
    corpus = gather([places[0], "simulated:40", places[1]], recipe.prepared, cache=windows)
    training = Training(recipe=recipe, corpus=corpus, folder=folder, name="default")
    found = cross_validate(training)
    for model in found.models:
        _gather_cohort(model, places)
    print(_tell(found.metrics))


def _gather_cohort(model: Path, places: list[str]) -> None:
    try:
        read_encoder(model)
    except (AccLockError, OSError):  # none yet, or that of an earlier model
        made = gather_strangers(str(model), data=places, simulated=60, seed=1000)
        write_cohort(cohort_path(model), made)
    print(f"  {model} and its cohort are there", flush=True)


def _tell(metrics: Mapping[str, float]) -> str:
    shown = {name: metrics[f"mscardio_equal_error_{name}"] for name in ("1", "5", "15")}
    figures = " / ".join(f"{100 * value:.1f}" for value in shown.values())
    return f"  equal error on chests of other people: {figures} % (1 / 5 / 15 windows)"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deal", type=int, default=REPORTED_DEAL, help="how people are split")
    chosen = parser.parse_args()
    if "ACCLOCK_DATA" not in os.environ:
        parser.error("ACCLOCK_DATA names the folder with the real recordings; it is not set")
    make_folds(Path(os.environ["ACCLOCK_DATA"]), chosen.deal)
    return 0


if __name__ == "__main__":
    sys.exit(main())
