"""Whether windows can be one person's: nothing else is worth a template."""

from collections.abc import Sequence

import numpy as np

from acclock.errors import TooFewError
from acclock.matching.centers import center_of, distances_to, leave_one_out
from acclock.matching.cohort import Cohort
from acclock.matching.rates import equal_error
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
