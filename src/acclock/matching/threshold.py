"""Where a user ends and strangers begin."""

import numpy as np

from acclock.errors import TooFewError
from acclock.matching.centers import distances_to, leave_one_out
from acclock.matching.cohort import Cohort
from acclock.matching.rates import equal_error
from acclock.matching.rule import Rule
from acclock.values import FloatArray


def choose_threshold(
    user_distances: FloatArray, stranger_distances: FloatArray, rule: Rule
) -> float:
    r"""Choose the distance below which a wearer is the user.

    .. math:: \tau = \arg\min_{t \in T} |FAR(t) - FRR(t)|

    Paper: Sec. 6.3, Algorithm 1, lines 11-13, unless the rule wants a certain false-accept rate:
    then it is the greatest threshold that keeps to it.

    >>> choose_threshold(np.array([0.1, 0.2, 0.6]), np.array([0.5, 0.7, 0.9]), Rule())
    0.6
    """
    if rule.wanted_far is None:
        return equal_error(user_distances, stranger_distances).threshold
    needed = int(np.ceil(1.0 / rule.wanted_far))  # with fewer, no rate so small can be seen
    if (have := stranger_distances.size) < needed:
        raise TooFewError(what=f"strangers for a FAR of {rule.wanted_far}", have=have, need=needed)
    allowed = int(rule.wanted_far * have + 1e-9)
    return float(np.partition(stranger_distances, allowed)[allowed])


def plain_threshold(
    center: FloatArray, user_distances: FloatArray, *, cohort: Cohort, rule: Rule
) -> float:
    """Choose the threshold for plain distances, whatever unit the rule decides in."""
    return choose_threshold(
        judged(user_distances, rule), distances_to(center, cohort.embeddings), rule
    )


def judged(user_distances: FloatArray, rule: Rule) -> FloatArray:
    """Give the user's distances as the rule wants them: as enrolled, or each window left out."""
    return leave_one_out(user_distances) if rule.user_distances == "left-out" else user_distances
