"""How much one distance speaks for the user, calibrated by their template and by strangers."""

from dataclasses import dataclass
from math import isfinite

import numpy as np

from acclock.matching.centers import leave_one_out
from acclock.matching.cohort import Cohort
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


def calibrate(
    center: FloatArray,
    user_distances: FloatArray,
    cohort: Cohort,
    *,
    allowance: float = 0.0,
    windows: float | None = None,
) -> Likelihood:
    """Learn from a user's own distances, and from strangers', what a distance to a center says.

    ``user_distances`` are an enrollment's, from its own center; ``allowance`` moves the user
    away by so many of their spreads, as a new wearing does. ``windows`` is of how many the center
    was made, where they were fewer than the enrollment's.
    """
    own = leave_one_out(user_distances)
    if windows is not None:
        own = expect_from_few(own, windows)
    spread = max(float(own.std()), _NARROWEST)
    usual = float(own.mean()) + allowance * spread
    nearest = float(np.quantile(cohort.distances_to(center), _NEAR))
    apart = max(nearest - usual, _LEAST_APART * spread)
    return Likelihood(middle=usual + apart / 2.0, steepness=apart / spread**2)


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
