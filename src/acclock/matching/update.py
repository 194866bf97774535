"""A template that follows its user slowly, and nobody else; windows added to an enrollment."""

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import ArrayLike

from acclock.errors import ConfigError, EnrollmentError
from acclock.matching.centers import as_rows, distances_to, leave_one_out, normalized
from acclock.matching.cohort import Cohort
from acclock.matching.template import Template
from acclock.matching.threshold import plain_threshold
from acclock.matching.verification import verify
from acclock.values import FloatArray


def limit_drift(center: FloatArray, anchor: FloatArray, *, reach: float) -> FloatArray:
    """Bring a center back to within ``reach`` of its anchor, the way it came.

    Both have length one, and so has the result; the way is the great circle.

    >>> limit_drift(np.array([0.0, 1.0]), np.array([1.0, 0.0]), reach=1.0).round(3)
    array([0.5  , 0.866])
    """
    if np.linalg.norm(center - anchor) <= reach:
        return center
    angle = 2.0 * math.asin(min(reach / 2.0, 1.0))
    direction = normalized(center - (center @ anchor) * anchor)
    return np.asarray(math.cos(angle) * anchor + math.sin(angle) * direction)


def add_windows(
    center: FloatArray, user_distances: FloatArray, embeddings: FloatArray
) -> FloatArray:
    r"""Give the center of the enrolled windows and some more, as if all were still there.

    The enrolled windows are gone, but unit vectors whose cosines with their center are
    :math:`c_i` sum to :math:`\sum c_i` times that center: their distances suffice.
    """
    total = float((1.0 - user_distances**2 / 2.0).sum())
    return normalized(total * center + embeddings.sum(axis=0))


_GROWTH_BUDGET = 0.25
"""How far, in thresholds, growing may move the center: the mean of 30 windows is that unsure."""


def extend(template: Template, embeddings: ArrayLike, *, cohort: Cohort, now: datetime) -> Template:
    """Add windows that the user recorded on purpose, as of talking, to the enrollment.

    Paper: Sec. 7.3, ten talking windows added to the registration. The center is that of all
    windows ever enrolled; it is the new anchor. Together the new windows must pass for the user.
    """
    rows = as_rows(embeddings)
    if not verify(template, rows, cohort=cohort).accepted:
        raise EnrollmentError("these windows do not pass for the enrolled person; nothing changed")
    center = add_windows(template.center, template.user_distances, rows)
    return _with_windows(template, center, rows, cohort, now)


def grow(template: Template, embeddings: ArrayLike, *, cohort: Cohort, now: datetime) -> Template:
    """Go on enrolling in the background, until the goal of the enrollment is reached.

    Paper: Sec. 7.2.3, the light start of 30 windows. ``embeddings`` are windows of one session
    that was accepted; all of them count, the poor ones too, for else the threshold would stay
    tight. A complete template stays as it is.
    """
    rows = as_rows(embeddings)[: template.goal - template.windows]
    if not template.growing or not verify(template, rows, cohort=cohort).accepted:
        return template
    reach = _GROWTH_BUDGET * plain_threshold(
        template.anchor, template.user_distances, cohort=cohort, rule=template.rule
    )
    wished = add_windows(template.center, template.user_distances, rows)
    center = limit_drift(wished, template.anchor, reach=reach)
    grown = _with_windows(template, center, rows, cohort, now)
    return replace(grown, anchor=template.anchor) if grown.growing else grown


def _with_windows(
    template: Template, center: FloatArray, rows: FloatArray, cohort: Cohort, now: datetime
) -> Template:
    # What the enrolled windows have apart from their center cancels out over all of them, so
    # on average the cosine with the new center is the product of the two cosines.
    cosines = (1.0 - template.user_distances**2 / 2.0) * float(template.center @ center)
    enrolled = np.sqrt(np.maximum(2.0 - 2.0 * cosines, 0.0))
    user_distances = np.concatenate([enrolled, distances_to(center, rows)])
    threshold = template.threshold
    if template.rule.neighbors is None:
        threshold = plain_threshold(center, user_distances, cohort=cohort, rule=template.rule)
    return replace(
        template,
        center=center,
        anchor=center,
        threshold=threshold,
        user_distances=user_distances,
        updated=now,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePolicy:
    """When and how far a template moves by itself. Defaults are the paper's unless a line says."""

    every: timedelta = timedelta(days=7)
    windows: int = 10
    """How many windows an update takes; fewer confident ones change nothing."""
    confident_share: float = 0.5
    """A window counts when its distance is below this share of the threshold."""
    own_share: float | None = 0.5
    """It also counts when it lies as near as this share of the windows that enrolled; without a
    share it does not, as in the paper. Ours: where all of a user's windows lie close to the
    threshold, none lies below half of it (docs/decisions/0039)."""
    drift_budget: float = 0.10
    """How far, in thresholds, all updates together may lead away from the anchor. Ours: the
    paper has no limit, and a patient attacker walks in (docs/decisions/0015)."""

    def __post_init__(self) -> None:
        if self.windows < 1:
            raise ConfigError(f"an update takes at least one window, not {self.windows}")
        if not 0 < self.confident_share <= 1:
            raise ConfigError(f"confident_share lies in (0, 1], not {self.confident_share}")
        if self.own_share is not None and not 0 <= self.own_share <= 1:
            raise ConfigError(f"own_share lies in [0, 1], not {self.own_share}")
        if not self.drift_budget >= 0:
            raise ConfigError(f"drift_budget cannot be negative; this is {self.drift_budget}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Update:
    """What an update came to."""

    template: Template
    """The template to use from now on: the old one where nothing changed."""
    changed: bool
    reason: str
    drift: float
    """How far the center now is from its anchor, as a share of what the budget allows."""


def update(
    template: Template,
    embeddings: ArrayLike,
    *,
    cohort: Cohort,
    now: datetime,
    policy: UpdatePolicy | None = None,
) -> Update:
    """Move the template towards windows of the past week that are clearly the user's.

    Paper: Sec. 7.4, the incremental update from windows whose distance is below half of the
    threshold. Ours: or as near as half of the enrolled ones; the center stays within the drift
    budget of its anchor, and the threshold never grows. ``embeddings`` are accepted windows
    without a fault, in the order of time.
    """
    policy = policy or UpdatePolicy()
    template.require(cohort.model)
    reach = policy.drift_budget * plain_threshold(
        template.anchor, template.user_distances, cohort=cohort, rule=template.rule
    )
    if now - template.updated < policy.every:
        return _unchanged(template, reach, f"the last change is not {policy.every.days} days old")
    chosen = _choose(template, as_rows(embeddings), cohort, policy)
    if len(chosen) < policy.windows:
        reason = f"{len(chosen)} windows were clearly the user's; this needs {policy.windows}"
        return _unchanged(template, reach, reason)
    moved = add_windows(template.center, template.user_distances, chosen)
    center = limit_drift(moved, template.anchor, reach=reach)
    threshold = _tightened(template, center, cohort)
    after = replace(template, center=center, threshold=threshold, updated=now)
    reason = "moved" if center is moved else "moved as far as the drift budget allows"
    return Update(template=after, changed=True, reason=reason, drift=_drift(after, reach))


def _choose(
    template: Template, embeddings: FloatArray, cohort: Cohort, policy: UpdatePolicy
) -> FloatArray:
    """Pick confident windows, spread evenly over the week."""
    threshold = plain_threshold(
        template.center, template.user_distances, cohort=cohort, rule=template.rule
    )
    if template.rule.neighbors is None:
        threshold = min(threshold, template.threshold)
    limit = policy.confident_share * threshold
    if policy.own_share is not None:
        own = np.quantile(leave_one_out(template.user_distances), policy.own_share)
        limit = min(max(limit, float(own)), threshold)
    confident: FloatArray = embeddings[distances_to(template.center, embeddings) < limit]
    if len(confident) <= policy.windows:
        return confident
    evenly = np.linspace(0, len(confident) - 1, policy.windows).astype(int)
    return np.asarray(confident[evenly])


def _tightened(template: Template, center: FloatArray, cohort: Cohort) -> float:
    """Choose the threshold anew for a moved center; it may shrink and never grows."""
    if template.rule.neighbors is not None:
        return template.threshold  # in normalized units the strangers follow the center already
    anew = plain_threshold(center, template.user_distances, cohort=cohort, rule=template.rule)
    return min(anew, template.threshold)


def _unchanged(template: Template, reach: float, reason: str) -> Update:
    return Update(template=template, changed=False, reason=reason, drift=_drift(template, reach))


def _drift(template: Template, reach: float) -> float:
    wandered = float(np.linalg.norm(template.center - template.anchor))
    return wandered / reach if reach > 0 else 0.0
