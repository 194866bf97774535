"""A person's windows in, a template out: without training anything."""

from datetime import datetime

from numpy.typing import ArrayLike

from acclock.errors import TooFewError
from acclock.matching.centers import as_rows, center_of, distances_to
from acclock.matching.cohort import Cohort
from acclock.matching.normalization import convert, measure
from acclock.matching.template import Template
from acclock.matching.threshold import RULES, Rule, choose_threshold, judged, plain_threshold
from acclock.values import FloatArray

FULL_WINDOWS = 80
"""Good windows of a full enrollment: six minutes, of which a tenth may be lost."""
LIGHT_WINDOWS = 30
"""Good windows of a light start: two minutes."""


def enroll(
    embeddings: ArrayLike,
    *,
    cohort: Cohort,
    now: datetime,
    rule: Rule = RULES["paper"],
    goal: int = FULL_WINDOWS,
) -> Template:
    """Make the template of the person whose windows these are, whoever that is.

    Paper: Sec. 6.3, Algorithm 1, the registration phase, lines 1-13. The strangers are the
    cohort's. Nothing is refused here but windows that are none: :mod:`acclock.matching.coaching`
    is the enrollment that looks at what it is given.
    """
    rows = as_rows(embeddings, width=cohort.embeddings.shape[1])
    if rows.shape[0] < 2:
        raise TooFewError(what="windows", have=rows.shape[0], need=2)
    center = center_of(rows)
    user_distances = distances_to(center, rows)
    users = convert(
        judged(user_distances, rule), center=center, embeddings=rows, rule=rule, cohort=cohort
    )
    return Template(
        model=cohort.model,
        center=center,
        anchor=center,
        threshold=_choose(center, user_distances, users, cohort=cohort, rule=rule),
        spread=float(users.std()),
        user_distances=user_distances,
        rule=rule,
        goal=goal,
        enrolled=now,
        updated=now,
    )


def _choose(
    center: FloatArray,
    user_distances: FloatArray,
    users: FloatArray,
    *,
    cohort: Cohort,
    rule: Rule,
) -> float:
    if rule.neighbors is None:
        return plain_threshold(center, user_distances, cohort=cohort, rule=rule)
    strangers = measure(center, cohort.embeddings, rule=rule, cohort=cohort)
    return choose_threshold(users, strangers, rule)
