"""How well a model tells people apart whom it has never seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import AccLockError
from acclock.matching.centers import center_of
from acclock.matching.rates import equal_error
from acclock.training.batches import keep_axes
from acclock.training.export import embed_eagerly
from acclock.training.grid import Windows
from acclock.training.subjects import Subject
from acclock.values import FloatArray

_FEWEST = 5
"""Windows to enroll with and windows to be judged by, each."""
_APART = 6
"""Windows between the two where both come from one session: a context's length and one more."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DatasetTrials:
    """Every person's later windows against everyone's earlier ones, within one data set."""

    source: str
    distances: Mapping[tuple[int, int], FloatArray]
    """(whose template, whose windows) to distances, in the order in which the windows came."""

    @property
    def people(self) -> int:
        return len({user for user, _ in self.distances})

    def error(self, *, windows: int = 1, people: Sequence[int] | None = None) -> float:
        """Give the equal error when so many windows in a row are averaged.

        ``people`` are those taken part, where one may be named several times.
        """
        chosen = range(self.people) if people is None else people
        own = [_average(self.distances[user, user], windows) for user in chosen]
        others = [_average(self.distances[pair], windows) for pair in self._strangers(chosen)]
        return equal_error(np.concatenate(own), np.concatenate(others)).rate

    def interval(
        self, *, windows: int = 1, rounds: int = 200, seed: int = 0
    ) -> tuple[float, float]:
        """Give between what the equal error lies in 95 % of draws of as many people."""
        chance = np.random.default_rng(seed)
        errors: list[float] = []
        while len(errors) < rounds:
            drawn = chance.integers(self.people, size=self.people).tolist()
            if self._strangers(drawn):
                errors.append(self.error(windows=windows, people=drawn))
        low, high = np.quantile(errors, [0.025, 0.975])
        return float(low), float(high)

    def _strangers(self, people: Sequence[int]) -> list[tuple[int, int]]:
        """Give the pairs of different people who were tried against each other."""
        pairs = product(people, people)
        return [pair for pair in pairs if pair[0] != pair[1] and pair in self.distances]


def try_all(
    model: EmbeddingModel, subjects: Sequence[Subject], *, axes: int
) -> list[DatasetTrials]:
    """Enroll everyone with their earlier windows and try everybody's later ones, by data set.

    The earlier half of the sessions enrolls; of a single session it is the earlier half, with
    more than a context between the two. Who has too few windows for that is left out.
    """
    sources = sorted({subject.source for subject in subjects})
    trials = []
    for source in sources:
        halves = [_split(subject) for subject in subjects if subject.source == source]
        whole = [(first, second) for first, second in halves if _suffice(first, second)]
        if len(whole) >= 2:
            trials.append(_try_source(model, source, whole, axes))
    return trials


def pool(folds: Sequence[Sequence[DatasetTrials]]) -> list[DatasetTrials]:
    """Lay the trials of several models side by side: nobody is tried against another fold."""
    pooled: dict[str, dict[tuple[int, int], FloatArray]] = {}
    for trial in (trial for trials in folds for trial in trials):
        held = pooled.setdefault(trial.source, {})
        before = len({user for user, _ in held})
        held |= {(before + u, before + w): found for (u, w), found in trial.distances.items()}
    return [DatasetTrials(source=source, distances=held) for source, held in pooled.items()]


def judge_model(trials: Sequence[DatasetTrials]) -> float:
    """Give the one number by which checkpoints are chosen: the equal error, mean of data sets."""
    if not trials:
        raise AccLockError("nobody is left to judge the model by: all have too few windows")
    return float(np.mean([trial.error() for trial in trials]))


def _try_source(
    model: EmbeddingModel, source: str, halves: list[tuple[Windows, Windows]], axes: int
) -> DatasetTrials:
    def embed(windows: Windows) -> FloatArray:
        return embed_eagerly(model, keep_axes(windows, axes))

    centers = [center_of(embed(first)) for first, _ in halves]
    tried = [embed(second) for _, second in halves]
    return DatasetTrials(
        source=source,
        distances={
            (user, wearer): np.linalg.norm(embeddings - center, axis=1)
            for user, center in enumerate(centers)
            for wearer, embeddings in enumerate(tried)
        },
    )


def _split(subject: Subject) -> tuple[Windows, Windows]:
    windows = [session.grid.windows for session in subject.sessions]
    if len(windows) == 1:
        half = (len(windows[0]) - _APART) // 2
        return windows[0][: max(half, 0)], windows[0][max(half, 0) + _APART :]
    half = len(windows) // 2
    return np.concatenate(windows[:half]), np.concatenate(windows[half:])


def _suffice(first: Windows, second: Windows) -> bool:
    return min(len(first), len(second)) >= _FEWEST


def _average(distances: FloatArray, windows: int) -> FloatArray:
    """Average runs of distances; who has less than one run gives the mean of what there is."""
    whole = len(distances) // windows * windows
    if not whole:
        return np.asarray(distances.mean(keepdims=True))
    return np.asarray(distances[:whole].reshape(-1, windows).mean(axis=1))
