"""Whether windows can be one person's: nothing else is worth a template."""

import numpy as np

from acclock.matching.centers import center_of, distances_to, leave_one_out
from acclock.matching.cohort import Cohort
from acclock.matching.rates import equal_error
from acclock.values import BoolArray, FloatArray

_WORST_EQUAL_ERROR = 0.30
"""Above this the windows are hardly nearer to each other than to strangers."""
_FEWEST_DISTINCT = 0.5
"""A heart never beats twice in exactly the same way; a stuck sensor does."""
_SMALLEST_PART = 0.15
"""A smaller part than this is a disturbance rather than a second person."""
_LEAST_AGREEMENT = 0.15
"""How many windows of one part the other part has to accept (docs/decisions/0014)."""


def find_incoherence(embeddings: FloatArray, cohort: Cohort) -> str | None:
    """Say why these windows cannot be one person's, or nothing when they can."""
    if len(np.unique(embeddings.round(6), axis=0)) < _FEWEST_DISTINCT * len(embeddings):
        return "the windows repeat each other: the sensor is stuck, or this is a replay"
    users = leave_one_out(distances_to(center_of(embeddings), embeddings))
    strangers = distances_to(center_of(embeddings), cohort.embeddings)
    if equal_error(users, strangers).rate > _WORST_EQUAL_ERROR:
        return "the windows have as little in common with each other as with strangers"
    part = split(embeddings)
    if min(part.mean(), 1.0 - part.mean()) < _SMALLEST_PART:
        return None
    agreement = _share_accepted(embeddings[part], embeddings[~part], cohort)
    agreement += _share_accepted(embeddings[~part], embeddings[part], cohort)
    if agreement / 2.0 < _LEAST_AGREEMENT:
        return "the windows fall into two groups, as those of two people do"
    return None


def split(embeddings: FloatArray) -> BoolArray:
    """Part embeddings into the two groups that lie closest together (2-means).

    Starts from the direction in which the embeddings differ most, so there is no chance in it.
    """
    residuals = embeddings - embeddings.mean(axis=0)
    direction = residuals[np.argmax((residuals**2).sum(axis=1))]
    for _ in range(10):  # power iteration; a full decomposition costs a hundred times as much
        direction = residuals.T @ (residuals @ direction)
        direction = direction / max(float(np.linalg.norm(direction)), 1e-12)
    part = np.asarray(residuals @ direction > 0.0)
    for _ in range(20):
        if part.all() or not part.any():
            break
        first, second = embeddings[part].mean(axis=0), embeddings[~part].mean(axis=0)
        middle = (first @ first - second @ second) / 2.0
        moved = np.asarray(embeddings @ (first - second) > middle)
        if np.array_equal(moved, part):
            break
        part = moved
    return part


def _share_accepted(enrolled: FloatArray, asked: FloatArray, cohort: Cohort) -> float:
    center = center_of(enrolled)
    users = leave_one_out(distances_to(center, enrolled))
    threshold = equal_error(users, distances_to(center, cohort.embeddings)).threshold
    return float((distances_to(center, asked) < threshold).mean())
