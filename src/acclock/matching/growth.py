"""Windows added to an enrollment after it was stored."""

from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import ArrayLike

from acclock.errors import EnrollmentError
from acclock.matching.centers import as_rows, distances_to
from acclock.matching.cohort import Cohort
from acclock.matching.drift import add_windows, limit_drift
from acclock.matching.template import Template
from acclock.matching.threshold import plain_threshold
from acclock.matching.verification import verify
from acclock.values import FloatArray

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
