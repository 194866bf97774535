"""How sure a figure is: people are drawn again and again, never windows."""

from dataclasses import dataclass

import numpy as np

from acclock.errors import ConfigError, TooFewError
from acclock.values import FloatArray

ROUNDS = 1000
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure, and between what it would lie with 95 % of other groups of people."""

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ConfigError(f"{self.value} does not lie between {self.low} and {self.high}")


def draw_people(people: int, *, rounds: int = ROUNDS, seed: int = 0) -> FloatArray:
    """Say how often each person is drawn in each round: ``(round, person)``.

    As many are drawn as there are, with replacement. A round in which one person is drawn every
    time has no strangers and is drawn again.

    >>> draw_people(3, rounds=100).sum(axis=1).min()
    np.float64(3.0)
    """
    if people < 2:
        raise TooFewError(what="people", have=people, need=2)
    chance = np.random.default_rng(seed)
    draws = np.zeros((rounds, people))
    for times in draws:
        while np.count_nonzero(times) < 2:
            times[:] = np.bincount(chance.integers(people, size=people), minlength=people)
    return draws


def estimate(value: float, drawn: FloatArray, *, people: int) -> Estimate:
    """Put an interval around a figure: the middle 95 % of what the draws gave.

    The interval always holds the figure itself. An error that never happened in n people may
    still have a rate of up to 3/n (the rule of three, docs/decisions/0022).

    >>> estimate(0.0, np.zeros(1000), people=30)
    Estimate(value=0.0, low=0.0, high=0.1)
    """
    finite = drawn[np.isfinite(drawn)]
    tail = (1.0 - _CONFIDENCE) / 2.0
    ends = np.quantile(finite, [tail, 1.0 - tail]) if finite.size else np.array([value, value])
    low, high = min(float(ends[0]), value), max(float(ends[1]), value)
    if value == 0.0:
        high = max(high, min(1.0, 3.0 / people))
    return Estimate(value=value, low=low, high=high)


def equal_errors(fmr: FloatArray, fnmr: FloatArray) -> FloatArray:
    """Give the equal error of every draw: the mean of both where they differ least."""
    gaps = np.abs(fmr - fnmr)
    best = np.argmin(np.nan_to_num(gaps, nan=np.inf), axis=1)[:, np.newaxis]
    both = np.take_along_axis(fmr, best, axis=1) + np.take_along_axis(fnmr, best, axis=1)
    return np.asarray(both[:, 0] / 2.0)


def fnmr_where(fmr: FloatArray, fnmr: FloatArray, *, at_most: float) -> FloatArray:
    """Give the FNMR of every draw at the last threshold that keeps the FMR within a bound."""
    # curves never fall along thresholds, so the last that keeps to it is a count
    kept = np.count_nonzero(fmr <= at_most + 1e-9, axis=1)
    rates = np.take_along_axis(fnmr, np.maximum(kept - 1, 0)[:, np.newaxis], axis=1)[:, 0]
    return np.where(kept > 0, rates, np.nan)
