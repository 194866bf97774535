"""A template that follows its user slowly, and nobody else."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import ArrayLike

from acclock.errors import ConfigError
from acclock.matching.centers import as_rows, distances_to, leave_one_out
from acclock.matching.cohort import Cohort
from acclock.matching.drift import add_windows, limit_drift
from acclock.matching.template import Template
from acclock.matching.threshold import plain_threshold
from acclock.values import FloatArray


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
