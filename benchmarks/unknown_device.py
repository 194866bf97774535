"""Whether an enrollment shows that the model never met this kind of device.

    python -m benchmarks.unknown_device MSCARDIO CLASSYGLASS [--work FOLDER]

Each kind of device (chest, glasses, simulated ear) is left out in turn: the head is fitted to the
other two without a third of their people, and a limit is set that 19 of 20 of that third stay
below. Counted is how many enrollments with the kind left out lie above, by what a cohort can
show (how far the nearest strangers lie from the center) and by what only the model knows (how
long a window is before it is brought to length one).
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from acclock.embedding.networks.registry import build
from acclock.embedding.networks.siamese import level
from acclock.models.strangers import blend
from acclock.training.corpora import gather
from acclock.training.recipe import read_recipe
from acclock.training.run import use_threads
from acclock.training.subjects import Subject, check_subjects, deal
from acclock.training.whitening import Labels, Whitening, WhiteningConfig, fit_whitening
from acclock.values import FloatArray

RESTING = "#activity=reading,typing,writing,browsing,computer"
_HONEST = 0.95
_NEAREST = 50
_FOLDS = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wearer:
    """One person's measures, session by session."""

    source: str
    sessions: list[FloatArray]

    @property
    def enrolling(self) -> FloatArray:
        """Those of the first half of the sessions."""
        return np.vstack(self.sessions[: max(1, len(self.sessions) // 2)])


def measure_people(subjects: Sequence[Subject]) -> dict[str, Wearer]:
    recipe = read_recipe('base = "views"\n')
    network = build(
        recipe.network,
        shape=recipe.shape,
        people=2,
        seed=0,
        config=recipe.network_config,
        embedding_width=recipe.embedding_width,
    ).network

    def measure(windows: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> FloatArray:
        with torch.inference_mode():
            return np.asarray(network(level(torch.from_numpy(windows))).numpy(), dtype=np.float64)

    return {
        one.name: Wearer(
            source=one.source, sessions=[measure(session.grid.windows) for session in one.sessions]
        )
        for one in subjects
    }


def fit(wearers: Sequence[Wearer]) -> Whitening:
    sources = sorted({one.source for one in wearers})
    held = [
        (rows, who, sources.index(one.source))
        for who, one in enumerate(wearers)
        for rows in one.sessions
    ]
    counts = [len(rows) for rows, _, _ in held]
    labels = Labels(
        people=np.repeat([who for _, who, _ in held], counts),
        sessions=np.repeat(np.arange(len(held)), counts),
        sources=np.repeat([source for _, _, source in held], counts),
    )
    rows = np.vstack([rows for rows, _, _ in held])
    return fit_whitening(rows, labels, width=512, config=WhiteningConfig())


def whiten(head: Whitening, rows: FloatArray) -> FloatArray:
    return rows @ head.weight.T + head.bias


def unit(rows: FloatArray) -> FloatArray:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True))


def try_without(left_out: str, wearers: dict[str, Wearer], folds: dict[str, int]) -> str:
    """Leave a kind out, and say how many of its people are noticed."""
    learned = [one for n, one in wearers.items() if one.source != left_out and folds[n] != 0]
    honest = [one for n, one in wearers.items() if one.source != left_out and folds[n] == 0]
    unknown = [one for one in wearers.values() if one.source == left_out]
    head = fit(learned)
    chance = np.random.default_rng(0)
    crowds = [
        [unit(whiten(head, np.vstack(one.sessions))) for one in learned if one.source == source]
        for source in sorted({one.source for one in learned})
    ]
    strangers = np.vstack([blend(crowd, chance) for crowd in crowds])

    def look_near(one: Wearer) -> float:
        center = unit(unit(whiten(head, one.enrolling)).mean(axis=0))
        return float(np.sort(np.linalg.norm(strangers - center, axis=1))[:_NEAREST].mean())

    def look_long(one: Wearer) -> float:
        return float(np.median(np.linalg.norm(whiten(head, one.enrolling), axis=1)))

    def count(look: Callable[[Wearer], float]) -> str:
        limit = np.quantile([look(one) for one in honest], _HONEST)
        noticed = sum(look(one) > limit for one in unknown)
        return f"{noticed} of {len(unknown)} ({100 * noticed / len(unknown):.0f} %)"

    return (
        f"without {left_out}, limits from {len(honest)} honest people:"
        f" nearest strangers {count(look_near)}, length {count(look_long)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("mscardio")
    parser.add_argument("classyglass")
    parser.add_argument("--work", type=Path, default=Path("encoders"))
    told = parser.parse_args()
    use_threads(1)
    recipe = read_recipe('base = "views"\n')
    places = [told.mscardio, "simulated:40", told.classyglass + RESTING]
    corpus = gather(places, recipe.prepared, cache=told.work / "windows")
    subjects = check_subjects(corpus.subjects, folds=_FOLDS)
    folds = dict(deal(subjects, folds=_FOLDS, seed=0))
    wearers = measure_people(subjects)
    for source in sorted({one.source for one in subjects}):
        print(try_without(source, wearers, folds), flush=True)


if __name__ == "__main__":
    main()
