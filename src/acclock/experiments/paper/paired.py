"""Whether the same people fare differently: signed ranks, and a correction for asking often."""

from collections.abc import Sequence

import numpy as np

from acclock.values import FloatArray


def wilcoxon(some: Sequence[float], others: Sequence[float]) -> float | None:
    """Give the two-sided p-value of Wilcoxon's signed-rank test, exactly, ties included.

    Pairs without a difference are left out; without any other pair there is nothing to test.

    >>> wilcoxon([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0] * 6)
    0.03125
    """
    differences = np.subtract(some, others)
    differences = differences[differences != 0]
    if not differences.size:
        return None
    # ranks that ties share end in a half; doubled, all of them are whole
    doubled = np.round(2 * _rank(np.abs(differences))).astype(int)
    total = int(doubled.sum())
    chances = _add_up(doubled, total)
    positive = int(doubled[differences > 0].sum())
    least = min(positive, total - positive)
    return float(min(1.0, 2.0 * chances[: least + 1].sum()))


def correct(chances: Sequence[float | None]) -> list[float | None]:
    """Raise p-values as Holm does, so that all of them together err as rarely as one.

    >>> correct([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    asked = [(chance, n) for n, chance in enumerate(chances) if chance is not None]
    corrected: list[float | None] = [None] * len(chances)
    highest = 0.0
    for place, (chance, n) in enumerate(sorted(asked)):
        highest = max(highest, min(1.0, chance * (len(asked) - place)))
        corrected[n] = highest
    return corrected


def _rank(sizes: FloatArray) -> FloatArray:
    """Rank from 1 on; equal sizes share the mean of their ranks."""
    _, which, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    lasts = np.cumsum(counts)
    return np.asarray((lasts - (counts - 1) / 2.0)[which])


def _add_up(ranks: FloatArray, total: int) -> FloatArray:
    """Give how likely each sum of ranks is when every sign is a coin."""
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    for rank in ranks.astype(int):
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: total + 1 - rank]
        chances = (chances + moved) / 2.0
    return chances
