"""Where a user ends and strangers begin, and by which rule that is chosen."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from acclock.errors import ConfigError, TooFewError
from acclock.matching.centers import leave_one_out
from acclock.matching.cohort import Cohort, VariationLevels
from acclock.matching.rates import equal_error
from acclock.values import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How an enrollment arrives at its threshold. The defaults are the paper's."""

    user_distances: Literal["enrolled", "left-out"] = "enrolled"
    """From which center the user's windows are measured: from the one they made themselves
    (paper), or from the center of all the others. Ours: the second (docs/decisions/0014)."""
    wanted_far: float | None = None
    """The share of strangers that may be accepted; without it both errors are made equal."""
    neighbors: int | None = None
    """How many of the nearest strangers set the scale of a distance (AS-norm); without it a
    distance is a distance."""
    strictness: float | None = None
    """By how many nats for each number of an embedding a window at the threshold speaks for the
    user, as people of the cohort vary (docs/decisions/0032); without it errors are counted."""

    def __post_init__(self) -> None:
        if self.user_distances not in ("enrolled", "left-out"):
            raise ConfigError(
                f"user_distances is 'enrolled' or 'left-out', not {self.user_distances!r}"
            )
        if self.wanted_far is not None and not 0 < self.wanted_far < 1:
            raise ConfigError(f"a wanted false-accept rate lies in (0, 1), not {self.wanted_far}")
        if self.neighbors is not None and self.neighbors < 2:
            raise ConfigError(f"AS-norm needs at least 2 neighbors, not {self.neighbors}")
        if self.strictness is not None and not (
            self.strictness >= 0 and self.neighbors is None and self.wanted_far is None
        ):
            raise ConfigError("strictness is not negative, and stands without another goal")


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "paper": Rule(),
        "leave-one-out": Rule(user_distances="left-out"),
        "wanted-far": Rule(user_distances="left-out", wanted_far=0.01),
        "as-norm": Rule(user_distances="left-out", neighbors=100),
        "likelihood": Rule(user_distances="left-out", strictness=0.012),
    }
)
"""Every rule that can be asked for by name."""


def name_rule(rule: Rule) -> str:
    """Give the name of a rule, or what it asks for where it has none.

    >>> name_rule(Rule(user_distances="left-out"))
    'leave-one-out'
    """
    return next((name for name, known in RULES.items() if known == rule), str(rule))


def rule_named(name: str) -> Rule:
    """Give the rule of that name.

    >>> rule_named("paper").wanted_far is None
    True
    """
    if name not in RULES:
        raise ConfigError(f"there is no rule {name!r}; there are {', '.join(RULES)}")
    return RULES[name]


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


def _levels_near(strangers: FloatArray, cohort: Cohort) -> VariationLevels:
    """Give how people vary who are like the nearest strangers."""
    known = [kind.levels for kind in cohort.kinds if kind.levels is not None]
    if not cohort.knows_levels:
        raise ConfigError(
            "the cohort does not say how much people vary; `acclock cohort` makes one that does"
        )
    shares = cohort.share_kinds(strangers)
    person, session, window = shares @ np.array([astuple(levels) for levels in known])
    return VariationLevels(person=person, session=session, window=window)


def judged(user_distances: FloatArray, rule: Rule) -> FloatArray:
    """Give the user's distances as the rule wants them: as enrolled, or each window left out."""
    return leave_one_out(user_distances) if rule.user_distances == "left-out" else user_distances
