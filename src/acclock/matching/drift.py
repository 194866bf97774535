"""How far a center may wander."""

import math

import numpy as np

from acclock.matching.centers import normalized
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
