"""Error rates with their intervals over people, in all and for parts of the trials."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from acclock.errors import TooFewError
from acclock.experiments.bootstrap import Estimate, equal_errors, estimate, fnmr_where
from acclock.experiments.participants import Participant
from acclock.experiments.tally import DistanceCounts, tally, tally_at
from acclock.experiments.trials import Trials
from acclock.matching.rates import equal_error, far, fnmr_at_fmr, frr
from acclock.values import BoolArray, FloatArray

FEWEST = 2
"""People in a group: the errors of one alone are that person's, and nobody else's business."""
_AGES = (30, 50)
"""Where one age group ends and the next begins."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrialSubset:
    """Some users, and which strangers are tried against them."""

    kind: str
    """What divides people: ``device``, ``sex``, ``age`` or ``race``."""
    name: str
    users: BoolArray
    pairs: BoolArray
    """``(user, wearer)``."""

    @property
    def people(self) -> int:
        return int(np.count_nonzero(self.users))

    def can_be_tried(self, trials: Trials) -> bool:
        """Whether there is a trial of a user and one of a stranger."""
        return all(distances.size for distances in trials.select(self.users, self.pairs))


def divide(participants: Sequence[Participant]) -> list[TrialSubset]:
    """Give every part that the data tells of and that holds at least two people."""
    labels = {
        "sex": [person.tell("sex") for person in participants],
        "age": [name_age(person.tell("age")) for person in participants],
        "race": [person.tell("race") for person in participants],
    }
    parts = _divide_devices([person.device for person in participants])
    for kind, told in labels.items():
        for name in sorted({one for one in told if one is not None}):
            users = np.array([one == name for one in told])
            parts.append(TrialSubset(kind=kind, name=name, users=users, pairs=_against_all(users)))
    return [part for part in parts if part.people >= FEWEST]


def name_age(told: str | None) -> str | None:
    """Name the age group of somebody who told their age in years.

    >>> name_age("21"), name_age("30"), name_age("62"), name_age("young")
    ('under 30', '30 to 49', '50 and over', None)
    """
    try:
        years = float(told or "")
    except ValueError:
        return None
    first, second = _AGES
    if years < first:
        return f"under {first}"
    return f"{first} to {second - 1}" if years < second else f"{second} and over"


def _divide_devices(devices: Sequence[str | None]) -> list[TrialSubset]:
    """Tell strangers with the user's own model of device from those with another."""
    known = np.array([device is not None for device in devices])
    both = known[:, np.newaxis] & known
    equal = np.array([[one == other for other in devices] for one in devices])
    apart = ~np.eye(len(devices), dtype=bool)
    kinds = {"same": both & equal & apart, "another": both & ~equal}
    return [
        TrialSubset(kind="device", name=name, users=pairs.any(axis=1), pairs=pairs)
        for name, pairs in kinds.items()
    ]


def _against_all(users: BoolArray) -> BoolArray:
    return np.broadcast_to(users[:, np.newaxis], (users.size, users.size))


WANTED_FMR = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class PartScore:
    """The errors of some people, or against some strangers."""

    part: TrialSubset
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
    counted: DistanceCounts | None, draws: FloatArray
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
    part: TrialSubset,
    trials: Trials,
    counted: DistanceCounts,
    draws: FloatArray,
    *,
    threshold: float,
) -> PartScore:
    own, others = trials.select(part.users, part.pairs)
    drawn = equal_errors(*counted.curves(draws, part.users, part.pairs))
    return PartScore(
        part=part,
        equal_error=estimate(equal_error_of(own, others), drawn, people=part.people),
        fmr=float(far(others, threshold)),
        fnmr=float(frr(own, threshold)),
    )
