"""An enrollment that looks at every window it is given and says what is missing."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import ArrayLike

from acclock.errors import ConfigError, EnrollmentError, SignalError, TooFewError
from acclock.matching.centers import are_unit, as_rows, center_of, distances_to, leave_one_out
from acclock.matching.coherence import find_incoherence
from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import FULL_WINDOWS, LIGHT_WINDOWS, enroll
from acclock.matching.fault import Fault
from acclock.matching.rates import frr
from acclock.matching.rule import Rule
from acclock.matching.template import Template
from acclock.matching.threshold import plain_threshold, usual_rule
from acclock.values import FloatArray

_RECENT = 5
"""Over how many windows advice looks back."""
_FEWEST_TO_PREDICT = 10
_CHECKED_EVERY = 10
"""After how many more windows coherence is looked at again; at the end it always is."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Enrollment:
    """What has been gathered of one person so far."""

    goal: int = FULL_WINDOWS
    """Good windows that make it complete."""
    least: int = LIGHT_WINDOWS
    """Good windows with which it may end early; the template then grows in use."""
    embeddings: tuple[FloatArray, ...] = ()
    faults: tuple[Fault | None, ...] = ()
    """What was wrong with each window ever pushed."""

    def __post_init__(self) -> None:
        if not 2 <= self.least <= self.goal:
            raise ConfigError(f"an enrollment of {self.goal} cannot end with {self.least} windows")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How an enrollment is going, in sentences for the wearer."""

    good: int
    needed: int
    least: int
    advice: str | None
    """What the wearer should do now; nothing when all is well."""
    predicted_frr: float | None
    """The share of windows in which the user would be refused: for this session, so later
    ones are worse. Unknown while there are few windows."""
    refusal: str | None
    """Why no template can be made of this; looked for now and then, and by ``finish``."""

    @property
    def complete(self) -> bool:
        return self.good >= self.needed and self.refusal is None

    @property
    def may_end(self) -> bool:
        """Whether there is enough for a light start."""
        return self.good >= self.least and self.refusal is None

    @property
    def sentence(self) -> str:
        """Give it all in one line.

        >>> quiet = {"least": 30, "predicted_frr": None, "refusal": None}
        >>> Progress(good=41, needed=80, advice="hold still", **quiet).sentence
        '41 of 80 good windows; hold still'
        """
        counted = f"{self.good} of {self.needed} good windows"
        return "; ".join(part for part in (counted, self.advice, self.refusal) if part)


def push(
    enrollment: Enrollment, embedding: ArrayLike | None, *, fault: str | None = None
) -> Enrollment:
    """Take one more window: its embedding, or what was wrong with it."""
    faults = (*enrollment.faults, None if fault is None else Fault(fault))
    if fault is not None:
        return replace(enrollment, faults=faults)
    rows = as_rows([] if embedding is None else embedding)
    if rows.shape[0] != 1 or not are_unit(rows).all():
        raise SignalError("a window without a fault has one embedding of length one")
    return replace(enrollment, faults=faults, embeddings=(*enrollment.embeddings, rows[0]))


def report(enrollment: Enrollment, *, cohort: Cohort, rule: Rule | None = None) -> Progress:
    """Say how the enrollment is going."""
    rule = rule or usual_rule(cohort)
    good = len(enrollment.embeddings)
    predicted, refusal = None, None
    if good >= _FEWEST_TO_PREDICT:
        predicted = predict_frr(np.array(enrollment.embeddings), cohort=cohort, rule=rule)
    if good >= enrollment.least and (good - enrollment.least) % _CHECKED_EVERY == 0:
        refusal = find_incoherence(np.array(enrollment.embeddings), cohort)
    return Progress(
        good=good,
        needed=enrollment.goal,
        least=enrollment.least,
        advice=_advise(enrollment),
        predicted_frr=predicted,
        refusal=refusal,
    )


def finish(
    enrollment: Enrollment, *, cohort: Cohort, now: datetime, rule: Rule | None = None
) -> Template:
    """Make the template, or refuse: too few good windows, or not one person's."""
    rule = rule or usual_rule(cohort)
    good = len(enrollment.embeddings)
    if good < enrollment.least:
        advice = f" ({_advise(enrollment)})" if _advise(enrollment) else ""
        raise TooFewError(what=f"good windows{advice}", have=good, need=enrollment.least)
    embeddings = np.array(enrollment.embeddings)
    if (refusal := find_incoherence(embeddings, cohort)) is not None:
        raise EnrollmentError(f"{refusal}; nothing was stored")
    return enroll(embeddings, cohort=cohort, rule=rule, now=now, goal=enrollment.goal)


def predict_frr(embeddings: FloatArray, *, cohort: Cohort, rule: Rule) -> float:
    """Guess in which share of windows the user will be refused.

    Every window is judged by the center of the others. One more success and one more failure
    are counted, so that ten windows without a failure do not promise that there is none.
    """
    center = center_of(embeddings)
    distances = distances_to(center, embeddings)
    threshold = plain_threshold(center, distances, cohort=cohort, rule=rule)
    refused = float(frr(leave_one_out(distances), threshold)) * len(distances)
    return (refused + 1.0) / (len(distances) + 2.0)


def _advise(enrollment: Enrollment) -> str | None:
    recent = [fault for fault in enrollment.faults[-_RECENT:] if fault is not None]
    if not recent or enrollment.faults[-1] is None:
        return None
    return Counter(reversed(recent)).most_common(1)[0][0].advice
