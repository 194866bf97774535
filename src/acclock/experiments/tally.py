"""Distances counted by who was tried against whom: all that a bootstrap over people needs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from acclock.experiments.trials import Trials
from acclock.values import BoolArray, FloatArray

_STEPS = 256
"""Thresholds on a grid, per kind of quantile: the error of an interval is below 0.2 %."""
_LEAST_FMR = 1e-3
_AT_ONCE = 2**22
"""Weights of pairs per matrix product: few large ones are faster, and memory stays bounded."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DistanceCounts:
    """How many distances of each pair of people lie strictly below each threshold."""

    own: NDArray[np.float32]
    """``(user, threshold)``: the user's own that are accepted."""
    others: NDArray[np.float32]
    """``(user, wearer, threshold)``: strangers' that are accepted."""
    own_trials: NDArray[np.float32]
    other_trials: NDArray[np.float32]

    @property
    def people(self) -> int:
        return len(self.own_trials)

    def curves(
        self, draws: FloatArray, users: BoolArray, pairs: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Give FMR and FNMR at every threshold, ``(draw, threshold)``, for each draw of people.

        A draw says how often each person was drawn; a pair counts as often as its two people
        were, multiplied. Where nobody is left to be tried, the rates are NaN.
        """
        step = max(1, _AT_ONCE // self.people**2)
        parts = [
            self._draw(draws[begin : begin + step], users, pairs)
            for begin in range(0, len(draws), step)
        ]
        return np.concatenate([fmr for fmr, _ in parts]), np.concatenate(
            [fnmr for _, fnmr in parts]
        )

    def _draw(
        self, draws: FloatArray, users: BoolArray, pairs: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        times = draws.astype(np.float32)
        own = np.where(users, times, np.float32(0))
        both = np.einsum("ru,rw->ruw", times, times)
        together = np.where(pairs, both, np.float32(0)).reshape(len(draws), -1)
        others = together @ self.others.reshape(self.people**2, -1)
        fmr = _share(others, together @ self.other_trials.ravel())
        return fmr, 1.0 - _share(own @ self.own, own @ self.own_trials)


def tally(trials: Trials) -> DistanceCounts:
    """Count at enough thresholds to follow both errors through all that resampling does."""
    thresholds = choose_thresholds(trials)
    bins = np.searchsorted(thresholds, trials.distances, side="right")  # NaN comes last
    return _count(trials, bins, thresholds.size)


def tally_at(trials: Trials, thresholds: FloatArray) -> DistanceCounts:
    """Count what each template accepts at its own threshold."""
    rejected = ~(trials.distances < thresholds)
    return _count(trials, rejected.astype(np.intp), 1)


def choose_thresholds(trials: Trials) -> FloatArray:
    """Choose all distances where they are few, else quantiles, finer where few are accepted."""
    finite = np.isfinite(trials.distances)
    own, others = trials.distances[trials.own & finite], trials.distances[trials.others & finite]
    exact = np.unique(np.concatenate([own, others]))
    if exact.size > 3 * _STEPS:
        even = np.linspace(0.0, 1.0, _STEPS)
        few = np.geomspace(_LEAST_FMR, 1.0, _STEPS)
        levels = [(own, even), (others, even), (others, few)]
        exact = np.unique(
            np.concatenate([np.quantile(some, at) for some, at in levels if some.size])
        )
    return np.append(exact, np.inf)


def _count(trials: Trials, bins: NDArray[np.intp], thresholds: int) -> DistanceCounts:
    people = trials.people
    pair = trials.owners * people + trials.wearers[:, np.newaxis]
    cells = pair * (thresholds + 1) + bins

    def add_up(mask: BoolArray) -> NDArray[np.float32]:
        counted = np.bincount(cells[mask], minlength=people**2 * (thresholds + 1))
        shaped = counted.reshape(people, people, -1).cumsum(axis=-1)
        return np.asarray(shaped, dtype=np.float32)

    own, others = add_up(trials.own), add_up(trials.others)
    diagonal = own[np.arange(people), np.arange(people)]
    return DistanceCounts(
        own=np.ascontiguousarray(diagonal[:, :-1]),
        others=np.ascontiguousarray(others[..., :-1]),
        own_trials=diagonal[:, -1],
        other_trials=others[..., -1],
    )


def _share(part: NDArray[np.float32], whole: NDArray[np.float32]) -> FloatArray:
    shares = np.full(part.shape, np.nan)
    np.divide(part, whole[:, np.newaxis], out=shares, where=whole[:, np.newaxis] > 0)
    return shares
