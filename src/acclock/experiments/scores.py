"""What the trials come to: error rates, each with its interval over people."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from acclock.errors import TooFewError
from acclock.experiments.bootstrap import Estimate, equal_errors, estimate, fnmr_where
from acclock.experiments.participants import Participant
from acclock.experiments.parts import Part, divide
from acclock.experiments.tally import Tally, tally, tally_at
from acclock.experiments.trials import Trials
from acclock.matching.det import fnmr_at_fmr
from acclock.matching.rates import equal_error, far, frr
from acclock.values import BoolArray, FloatArray

WANTED_FMR = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class PartScore:
    """The errors of some people, or against some strangers."""

    part: Part
    equal_error: Estimate
    fmr: float
    """At the threshold where both errors of everybody are equal: who pays for one threshold?"""
    fnmr: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """All figures for decisions over so many windows."""

    windows: int
    own_trials: int
    other_trials: int
    equal_error: Estimate
    """Of all distances together, at one threshold for everybody."""
    threshold: float
    mean_equal_error: Estimate
    """Mean over people, each at a threshold of their own."""
    fnmr_at_wanted_fmr: Estimate | None
    """``None`` where so few strangers cannot show so small a rate."""
    far_enrolled: Estimate | None
    """At the threshold that each enrollment chose; ``None`` without a cohort."""
    frr_enrolled: Estimate | None
    equal_error_enrolled: Estimate | None
    """Of all distances less the threshold that each enrollment chose: one shift for everybody."""
    parts: tuple[PartScore, ...]


def score(
    trials: Trials,
    participants: Sequence[Participant],
    *,
    draws: FloatArray,
    thresholds: FloatArray | None = None,
) -> Score:
    """Turn trials into error rates. ``thresholds`` are the enrolled ones, one per template."""
    counted = tally(trials)
    everybody, all_pairs = _all(trials.people)
    own, others = trials.select(everybody, all_pairs)
    pooled = equal_error(own, others)
    fmr, fnmr = counted.curves(draws, everybody, all_pairs)
    at_enrolled = None if thresholds is None else tally_at(trials, thresholds)
    far_enrolled, frr_enrolled = _score_enrolled(at_enrolled, draws)
    return Score(
        windows=trials.windows,
        own_trials=own.size,
        other_trials=others.size,
        equal_error=estimate(pooled.rate, equal_errors(fmr, fnmr), people=trials.people),
        threshold=pooled.threshold,
        mean_equal_error=_score_each(trials, draws),
        fnmr_at_wanted_fmr=_score_wanted(own, others, fmr, fnmr, people=trials.people),
        far_enrolled=far_enrolled,
        frr_enrolled=frr_enrolled,
        equal_error_enrolled=None
        if thresholds is None
        else _score_shifted(trials, thresholds, draws),
        parts=tuple(
            _score_part(part, trials, counted, draws, threshold=pooled.threshold)
            for part in divide(participants)
            if part.can_be_tried(trials)
        ),
    )


def equal_error_of(own: FloatArray, others: FloatArray) -> float:
    """Give the equal error; where nothing could be measured everyone is rejected: one half."""
    if not (np.isfinite(own).any() or np.isfinite(others).any()):
        return 0.5
    return equal_error(own, others).rate


def _all(people: int) -> tuple[BoolArray, BoolArray]:
    return np.ones(people, dtype=bool), np.ones((people, people), dtype=bool)


def _score_each(trials: Trials, draws: FloatArray) -> Estimate:
    """Average the equal error over templates, then over people."""
    found = np.array(
        [
            equal_error_of(column[own], column[others])
            for column, own, others in zip(
                trials.distances.T, trials.own.T, trials.others.T, strict=True
            )
            if own.any()
        ]
    )
    owners = trials.owners[trials.own.any(axis=0)]
    tested = np.unique(owners)
    each = np.array([found[owners == person].mean() for person in tested])
    drawn = draws[:, tested]
    held = drawn.sum(axis=1) > 0
    means = (drawn[held] @ each) / drawn[held].sum(axis=1)
    return estimate(float(each.mean()), means, people=trials.people)


def _score_wanted(
    own: FloatArray, others: FloatArray, fmr: FloatArray, fnmr: FloatArray, *, people: int
) -> Estimate | None:
    try:
        point = fnmr_at_fmr(own, others, fmr=WANTED_FMR)
    except TooFewError:
        return None
    return estimate(point.fnmr, fnmr_where(fmr, fnmr, at_most=WANTED_FMR), people=people)


def _score_enrolled(
    counted: Tally | None, draws: FloatArray
) -> tuple[Estimate, Estimate] | tuple[None, None]:
    if counted is None:
        return None, None
    everybody, all_pairs = _all(counted.people)
    once = np.ones((1, counted.people))
    points = counted.curves(once, everybody, all_pairs)
    drawn = counted.curves(draws, everybody, all_pairs)
    far_enrolled, frr_enrolled = (
        estimate(float(point[0, 0]), rates[:, 0], people=counted.people)
        for point, rates in zip(points, drawn, strict=True)
    )
    return far_enrolled, frr_enrolled


def _score_shifted(trials: Trials, thresholds: FloatArray, draws: FloatArray) -> Estimate:
    """Let everybody's own threshold be as strict as makes both errors of all together equal."""
    shifted = trials.less(thresholds)
    everybody, all_pairs = _all(trials.people)
    rate = equal_error_of(*shifted.select(everybody, all_pairs))
    fmr, fnmr = tally(shifted).curves(draws, everybody, all_pairs)
    return estimate(rate, equal_errors(fmr, fnmr), people=trials.people)


def _score_part(
    part: Part, trials: Trials, counted: Tally, draws: FloatArray, *, threshold: float
) -> PartScore:
    own, others = trials.select(part.users, part.pairs)
    drawn = equal_errors(*counted.curves(draws, part.users, part.pairs))
    return PartScore(
        part=part,
        equal_error=estimate(equal_error_of(own, others), drawn, people=part.people),
        fmr=float(far(others, threshold)),
        fnmr=float(frr(own, threshold)),
    )
