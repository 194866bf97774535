"""Where a user ends and strangers begin."""

from dataclasses import astuple

import numpy as np

from acclock.errors import ConfigError, TooFewError
from acclock.matching.centers import leave_one_out
from acclock.matching.cohort import Cohort
from acclock.matching.levels import Levels
from acclock.matching.rates import equal_error
from acclock.matching.rule import RULES, Rule
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
    strangers = cohort.distances_to(center)
    if rule.strictness is not None:
        return _levels_near(strangers, cohort).threshold(user_distances, strictness=rule.strictness)
    return choose_threshold(judged(user_distances, rule), strangers, rule)


def usual_rule(cohort: Cohort) -> Rule:
    """Give the rule that people are enrolled by unless somebody asks for another.

    A cohort that does not know how its people vary leaves the paper's.
    """
    return RULES["likelihood" if cohort.knows_levels else "paper"]


def _levels_near(strangers: FloatArray, cohort: Cohort) -> Levels:
    """Give how people vary who are like the nearest strangers."""
    known = [kind.levels for kind in cohort.kinds if kind.levels is not None]
    if not cohort.knows_levels:
        raise ConfigError(
            "the cohort does not say how much people vary; `acclock cohort` makes one that does"
        )
    shares = cohort.share_kinds(strangers)
    person, session, window = shares @ np.array([astuple(levels) for levels in known])
    return Levels(person=person, session=session, window=window)


def judged(user_distances: FloatArray, rule: Rule) -> FloatArray:
    """Give the user's distances as the rule wants them: as enrolled, or each window left out."""
    return leave_one_out(user_distances) if rule.user_distances == "left-out" else user_distances
