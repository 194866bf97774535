"""Evidence over overlapping windows: what each distance says, summed over a wearing."""

from dataclasses import dataclass, field, replace
from math import isfinite, isnan

import numpy as np

from acclock.live.policies import Policy
from acclock.matching.centers import center_of, distance_to, leave_one_out
from acclock.matching.cohort import Cohort
from acclock.matching.normalization import measure
from acclock.matching.template import Template
from acclock.values import FloatArray

WINDOW_S = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What has gathered for the user and against them, each since it was last nothing.

    >>> add(Evidence(), -4.0, step_s=1.0)
    Evidence(towards=0.0, against=1.0)
    """

    towards: float = 0.0
    against: float = 0.0


def add(evidence: Evidence, nats: float, *, step_s: float) -> Evidence:
    """Take the nats of one more window: two sums that never fall below zero (CUSUM).

    Windows of four seconds every half second share seven eighths of their samples: each counts
    by what is new in it, so that a second of heartbeat weighs the same at every step.
    """
    new = nats * step_s / WINDOW_S
    return Evidence(
        towards=max(0.0, evidence.towards + new), against=max(0.0, evidence.against - new)
    )


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


_MOST_GATHERED = 120


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wearing:
    """One time in the ear, from putting it in to taking it out.

    It begins unproven: windows are weighed by their distance from the template. Once they have
    proven it, they are weighed by their distance from the center of the windows that did: the
    question is then no longer who it is, but whether it is still the same. Within one wearing a
    heart differs far less from itself than between two (docs/decisions/0024).
    """

    center: FloatArray
    likelihood: Likelihood
    proven: bool = False
    shaken: bool = False
    """Whether it was shaken, or trust in it was lost, since it was last proven."""
    evidence: Evidence = field(default_factory=Evidence)
    gathered: tuple[FloatArray, ...] = ()
    """The windows of the proof that is under way."""

    def disproven(self, policy: Policy) -> bool:
        """Whether enough speaks against the user."""
        most = policy.revoke_nats if self.proven else policy.needed_nats
        return self.evidence.against >= most

    def clear(self, policy: Policy) -> bool:
        """Whether so little speaks against the user that windows may renew trust."""
        return self.evidence.against < policy.revoke_nats / 2.0

    @property
    def trusted(self) -> bool:
        """Whether it was proven, and proven once more since it was last doubted."""
        return self.proven and not self.shaken


def begin(template: Template, cohort: Cohort, policy: Policy) -> Wearing:
    """Give a wearing about which nothing is known yet."""
    likelihood = calibrate_template(template, cohort, factor=policy.cohort_factor)
    return Wearing(center=template.center, likelihood=likelihood)


def weigh(wearing: Wearing, embedding: FloatArray) -> float | None:
    """Give the nats that a window of this wearing speaks for the user, if it has an embedding."""
    distance = distance_to(wearing.center, embedding)
    return None if isnan(distance) else wearing.likelihood.weigh(distance)


def shake(wearing: Wearing) -> Wearing:
    """Give a wearing of which nothing speaks for the user any longer."""
    return replace(
        wearing, shaken=True, evidence=replace(wearing.evidence, towards=0.0), gathered=()
    )


def add_window(wearing: Wearing, embedding: FloatArray, nats: float, policy: Policy) -> Wearing:
    """Take one more window, and what it was found to say."""
    evidence = add(wearing.evidence, nats, step_s=policy.step_s)
    shaken = wearing.shaken and evidence.towards < policy.proof_nats / 2.0
    gathered = (*wearing.gathered, embedding)[-_MOST_GATHERED:]
    if wearing.proven or evidence.towards == 0.0:
        gathered = ()
    return replace(wearing, evidence=evidence, shaken=shaken, gathered=gathered)


def prove(wearing: Wearing, template: Template, cohort: Cohort, policy: Policy) -> Wearing:
    """Let a wearing be its own measure from now on, when its windows suffice as a proof."""
    lasted_s = len(wearing.gathered) * policy.step_s
    enough = wearing.evidence.towards >= policy.needed_nats and lasted_s >= policy.needed_s
    if wearing.proven or not enough:
        return wearing
    center = center_of(list(wearing.gathered))
    apart = 1.0 + (lasted_s - policy.step_s) / WINDOW_S  # so many windows, had none overlapped
    return Wearing(
        center=center,
        likelihood=calibrate_wearing(
            center, template, cohort, factor=policy.wearing_factor, windows=apart
        ),
        proven=True,
    )
