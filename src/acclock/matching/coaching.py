"""An enrollment that judges every window it is given and reports what is still missing."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import ArrayLike

from acclock.errors import ConfigError, EnrollmentError, SignalError, TooFewError
from acclock.matching.centers import are_unit, as_rows, center_of, distances_to, leave_one_out
from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import FULL_WINDOWS, LIGHT_WINDOWS, enroll
from acclock.matching.rates import equal_error, frr
from acclock.matching.template import Template
from acclock.matching.threshold import Rule, plain_threshold, usual_rule
from acclock.matching.verdict import WindowFault
from acclock.values import BoolArray, FloatArray

_WORST_EQUAL_ERROR = 0.30
"""Above this the windows are hardly nearer to each other than to strangers."""
_FEWEST_DISTINCT = 0.5
"""A heart never beats twice in exactly the same way; a stuck sensor does."""
_SMALLEST_PART = 0.15
"""A smaller part than this is a disturbance rather than a second person."""
_HONEST = 0.95
"""The share of honest people, each worn twice, whom the check has to let pass."""
_WINDOWS = 20
"""How many windows of each of the two sessions of a stranger count."""
_OF_STRANGERS = 0.5
"""What stands in for a cohort that does not know how much its people vary: half the distance
that strangers usually have."""


def find_incoherence(embeddings: FloatArray, cohort: Cohort) -> str | None:
    """Say why these windows cannot be one person's, or nothing when they can.

    All is judged against the cohort, so that every model brings its own limits
    (docs/enroll.md has the figures).
    """
    if len(np.unique(embeddings.round(6), axis=0)) < _FEWEST_DISTINCT * len(embeddings):
        return "the windows repeat each other: the sensor is stuck, or this is a replay"
    center = center_of(embeddings)
    users = leave_one_out(distances_to(center, embeddings))
    strangers = cohort.distances_to(center)
    if equal_error(users, strangers).rate > _WORST_EQUAL_ERROR:
        return "the windows have as little in common with each other as with strangers"
    if measure_gap(embeddings) > _widest_near(strangers, cohort):
        return "the windows fall into two groups, as those of two people do"
    return None


def measure_gap(embeddings: FloatArray) -> float:
    """Give how far apart the centers of the two groups lie into which embeddings fall.

    It is zero when one of the groups is too small to be a second person.

    >>> round(measure_gap(np.eye(2)[[0, 0, 1, 1]]), 3)
    1.414
    """
    part = split(embeddings)
    if min(part.mean(), 1.0 - part.mean()) < _SMALLEST_PART:
        return 0.0
    return float(np.linalg.norm(center_of(embeddings[part]) - center_of(embeddings[~part])))


def measure_widest(people: Sequence[Sequence[FloatArray]]) -> float:
    """Give the gap that 19 of 20 people stay below who wore the device on two occasions.

    Takes the windows of every person's sessions. Of the first two sessions as many windows as
    each has, up to 20, are put together; who has one session only counts with that.
    """
    sets = [_two_sessions(sessions) for sessions in people]
    gaps = [measure_gap(rows) for rows in sets if len(rows) >= 2]
    if not gaps:
        raise TooFewError(what="people with two good windows or more", have=0, need=1)
    return float(np.quantile(gaps, _HONEST))


def _two_sessions(sessions: Sequence[FloatArray]) -> FloatArray:
    filled = [rows for rows in sessions if len(rows)][:2]
    if len(filled) < 2:
        return filled[0][: 2 * _WINDOWS] if filled else np.empty((0, 2))
    count = min(_WINDOWS, *(len(rows) for rows in filled))
    return np.vstack([rows[:count] for rows in filled])


def _widest_near(strangers: FloatArray, cohort: Cohort) -> float:
    """Give how far one person's windows may fall apart among people like the nearest strangers."""
    if not cohort.kinds:
        return _OF_STRANGERS * float(np.median(strangers))
    return float(cohort.share_kinds(strangers) @ [kind.widest for kind in cohort.kinds])


def split(embeddings: FloatArray) -> BoolArray:
    """Part embeddings into the two groups that lie closest together (2-means).

    Starts from the direction in which the embeddings differ most, so there is no chance in it.
    """
    residuals = embeddings - embeddings.mean(axis=0)
    direction = residuals[np.argmax((residuals**2).sum(axis=1))]
    for _ in range(10):  # power iteration; a full decomposition costs a hundred times as much
        direction = residuals.T @ (residuals @ direction)
        direction = direction / max(float(np.linalg.norm(direction)), 1e-12)
    part = np.asarray(residuals @ direction > 0.0)
    for _ in range(20):
        if part.all() or not part.any():
            break
        first, second = embeddings[part].mean(axis=0), embeddings[~part].mean(axis=0)
        middle = (first @ first - second @ second) / 2.0
        moved = np.asarray(embeddings @ (first - second) > middle)
        if np.array_equal(moved, part):
            break
        part = moved
    return part


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
    faults: tuple[WindowFault | None, ...] = ()
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
    faults = (*enrollment.faults, None if fault is None else WindowFault(fault))
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
