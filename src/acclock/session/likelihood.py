"""How much one distance speaks for the user, calibrated by their template and by strangers."""

from dataclasses import dataclass
from math import isfinite

import numpy as np

from acclock.matching.centers import leave_one_out
from acclock.matching.cohort import Cohort
from acclock.matching.normalization import measure
from acclock.matching.template import Template
from acclock.values import FloatArray

_NEAR = 0.05
"""The strangers to tell apart are the near ones: this share of the cohort lies nearer."""
_LEAST_APART = 2.0
"""In spreads: when strangers lie nearer than that, the user gets no narrower than this."""
_NARROWEST = 1e-3
"""No user's distances spread less, however alike the enrolled windows were."""
_LEAST_COSINE = 0.05
"""Windows that point nowhere in common have no center to be near to."""
MOST_NATS = 8.0
"""What a whole window may say at most: one odd window shall not decide."""
_ROUNDING = 1e-9
"""The next stranger stays outside also when their distance is computed otherwise."""
_SHARE_OF_NONE = 0.01
"""Of the cohort may lie nearer than what speaks for a user whose threshold encloses nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Likelihood:
    """Two explanations of a distance: the user, or a stranger who lies as near as few do."""

    middle: float
    """The distance that both explain equally well."""
    steepness: float
    """Nats per unit of distance."""

    def weigh(self, distance: float) -> float:
        """Give the nats by which the user explains a distance better than a near stranger.

        The log-likelihood ratio of two normal distributions of the same spread, cut off at
        eight nats on both sides. A distance that is not a number speaks against the user.

        >>> fit = Likelihood(middle=0.6, steepness=20.0)
        >>> fit.weigh(0.5).__round__(3), fit.weigh(2.0), fit.weigh(float("nan"))
        (2.0, -8.0, -8.0)
        """
        nats = (self.middle - distance) * self.steepness
        return max(-MOST_NATS, min(nats, MOST_NATS)) if isfinite(nats) else -MOST_NATS


def allowed_share(template: Template, cohort: Cohort, *, factor: float) -> float:
    """Give the share of the cohort that may lie nearer than what speaks for the user.

    That is the share which the enrolled threshold encloses, times the factor of a policy
    (docs/decisions/0044): a session must not accept more strangers than the threshold does.
    """
    distances = measure(template.center, cohort.embeddings, rule=template.rule, cohort=cohort)
    enclosed = float((distances < template.threshold).mean())
    return factor * enclosed if enclosed else _SHARE_OF_NONE


def calibrate_template(template: Template, cohort: Cohort, *, factor: float) -> Likelihood:
    """Learn what a distance from a template says of somebody who has just put the earphone in.

    The user is expected where their enrolled windows lay, and near strangers as far beyond the
    farthest distance that the cohort allows.
    """
    own = leave_one_out(template.user_distances)
    share = allowed_share(template, cohort, factor=factor)
    middle = reach(cohort.distances_to(template.center), share)
    return _separate(own, 2.0 * (middle - float(own.mean())), middle)


def calibrate_wearing(
    center: FloatArray, template: Template, cohort: Cohort, *, factor: float, windows: float
) -> Likelihood:
    """Learn what a distance from the center of a proven wearing says of whoever wears it now.

    ``windows`` is of how many the center was made: fewer than an enrollment's, so the user's own
    lie farther from it. The cohort, seen from that center, bounds it as it does the template.
    """
    own = expect_from_few(leave_one_out(template.user_distances), windows)
    strangers = cohort.distances_to(center)
    apart = float(np.quantile(strangers, _NEAR)) - float(own.mean())
    midway = float(own.mean()) + max(apart, _LEAST_APART * _spread(own)) / 2.0
    bound = reach(strangers, allowed_share(template, cohort, factor=factor))
    return _separate(own, apart, min(midway, bound))


def reach(distances: FloatArray, share: float) -> float:
    """Give the greatest distance below which at most this share of some distances lies.

    >>> round(reach(np.array([0.9, 0.7, 0.8, 1.0]), 0.25), 6)
    0.8
    """
    allowed = min(int(share * distances.size + 1e-9), distances.size - 1)
    return float(np.partition(distances, allowed)[allowed]) - _ROUNDING


def _separate(own: FloatArray, apart: float, middle: float) -> Likelihood:
    spread = _spread(own)
    apart = max(apart, _LEAST_APART * spread)
    return Likelihood(middle=middle, steepness=apart / spread**2)


def _spread(own: FloatArray) -> float:
    return max(float(own.std()), _NARROWEST)


def expect_from_few(distances: FloatArray, windows: float) -> FloatArray:
    """Give what distances from a person's true center become from the mean of a few windows.

    A mean of n windows is off its center by a part of length ``sqrt((1 - r²) / n)`` at a right
    angle, where r is the cosine between a window and the center: every window then lies farther.

    >>> expect_from_few(np.array([0.9, 1.0]), 4.0).round(2)
    array([1.03, 1.1 ])
    """
    cosines = 1.0 - np.square(distances) / 2.0
    mean = max(float(cosines.mean()), _LEAST_COSINE)
    shrunk = cosines * mean / np.sqrt(mean**2 + (1.0 - mean**2) / windows)
    return np.asarray(np.sqrt(np.maximum(2.0 - 2.0 * shrunk, 0.0)))
