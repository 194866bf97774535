"""Where a user lies in the space of embeddings, and how far windows lie from there."""

from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from acclock.errors import SignalError, TooFewError
from acclock.values import BoolArray, FloatArray

_LENGTH_TOLERANCE = 1e-3
"""How far from one the length of an embedding may be; 32-bit networks round at 1e-7."""


def as_rows(embeddings: ArrayLike, *, width: int | None = None) -> FloatArray:
    """Give embeddings as rows: one embedding is one row; another width is refused.

    >>> as_rows([0.6, 0.8]).shape
    (1, 2)
    """
    rows = np.atleast_2d(np.asarray(embeddings, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise SignalError(f"embeddings are rows of numbers; these have shape {rows.shape}")
    if width is not None and rows.shape[1] != width:
        raise SignalError(f"the embeddings have {rows.shape[1]} numbers; this needs {width}")
    return rows


def are_unit(embeddings: FloatArray) -> BoolArray:
    """Tell for each row whether it is a finite vector of length one.

    Nothing else is an embedding: the zero vector lies at distance 1 from everybody.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(embeddings, axis=-1)
        return np.asarray(np.abs(lengths - 1.0) <= _LENGTH_TOLERANCE)


def center_of(embeddings: ArrayLike) -> FloatArray:
    r"""Average embeddings and bring the mean back to length one.

    .. math:: \mathbf{h}_{ID} = \frac{1}{m} \sum_{i=1}^m f(HIDNet(X_i))

    Paper: Sec. 6.3, Algorithm 1, lines 1-2: one embedding for each 4 s window that the
    recording was cut into. Ours: the mean is normalized (docs/decisions/0015).

    >>> center_of([[1.0, 0.0], [0.0, 1.0]]).round(3)
    array([0.707, 0.707])
    """
    rows = as_rows(embeddings)
    if rows.shape[0] == 0:
        raise TooFewError(what="embeddings", have=0, need=1)
    if not are_unit(rows).all():
        raise SignalError("an embedding is a finite vector of length one; not all of these are")
    return normalized(rows.mean(axis=0))


def normalized(vector: FloatArray) -> FloatArray:
    """Give the vector of length one that points the same way; zero points nowhere."""
    length = float(np.linalg.norm(vector))
    if not length > 1e-9:
        raise SignalError("the embeddings cancel each other out: they have no center")
    return vector / length


def distances_to(center: FloatArray, embeddings: ArrayLike) -> FloatArray:
    r"""Measure how far each embedding lies from a center, as a straight line.

    .. math:: d = \| f(HIDNet(X_k)) - \mathbf{h}_{ID} \|_2

    Paper: Sec. 6.3, Algorithm 1, lines 3-10 (over the user's windows, then over everybody
    else's) and lines 14-16 (over the windows of a query).
    What is not a unit vector has no distance (NaN), so that nobody accepts it.

    >>> distances_to(np.array([1.0, 0.0]), [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]).round(3)
    array([0.   , 1.414,   nan])
    """
    rows = as_rows(embeddings, width=center.shape[0])
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(rows - center, axis=1)
    return np.where(are_unit(rows), lengths, np.nan)


def distance_to(center: FloatArray, embedding: FloatArray) -> float:
    """Give what ``distances_to`` gives for one embedding, in a tenth of the time.

    A live stream has one at a time, and most of that function's work is that for many.

    >>> distance_to(np.array([1.0, 0.0]), np.array([0.0, 1.0])).__round__(3)
    1.414
    """
    if embedding.shape != center.shape:
        return nan
    with np.errstate(over="ignore", invalid="ignore"):
        length = sqrt(embedding @ embedding)
        apart = embedding - center
        return sqrt(apart @ apart) if abs(length - 1.0) <= _LENGTH_TOLERANCE else nan


def leave_one_out(user_distances: FloatArray) -> FloatArray:
    r"""Give each window's distance from the center of all the *other* windows.

    With unit vectors the distances from the common center suffice: their cosines
    :math:`c_i = 1 - d_i^2 / 2` sum to the length :math:`L` of the sum of all windows, and
    the center without window i has cosine :math:`(L c_i - 1) / \sqrt{L^2 - 2 L c_i + 1}` to it.

    >>> leave_one_out(np.array([0.6, 0.6])).round(3)  # two windows: each against the other
    array([1.145, 1.145])
    """
    cosines = 1.0 - user_distances**2 / 2.0
    total = cosines.sum()
    others = np.sqrt(np.maximum(total**2 - 2.0 * total * cosines + 1.0, 1e-18))
    left_out = (total * cosines - 1.0) / others
    return np.asarray(np.sqrt(np.maximum(2.0 - 2.0 * left_out, 0.0)))
