"""How often a threshold errs: strangers accepted, the user rejected, and where the two meet."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from acclock.errors import TooFewError
from acclock.values import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualError:
    """The threshold at which both errors are as equal as they get, and the two errors there."""

    threshold: float
    far: float
    frr: float

    @property
    def rate(self) -> float:
        """One number for both: their mean."""
        return (self.far + self.frr) / 2


def far(stranger_distances: ArrayLike, thresholds: ArrayLike) -> FloatArray:
    """Share of the strangers' distances that each threshold accepts.

    Paper: Sec. 6.3, Algorithm 1, the definition of FAR. Accepted is strictly below the threshold,
    so a distance that is not a number is never accepted, nor is anything by such a threshold.

    >>> far([0.5, 0.7, 0.9, np.nan], [0.5, 0.8, np.nan])
    array([0. , 0.5, 0. ])
    """
    distances = _checked(stranger_distances, "distances of strangers")
    return _count_accepted(distances, thresholds) / distances.size


def frr(user_distances: ArrayLike, thresholds: ArrayLike) -> FloatArray:
    """Share of the user's own distances that each threshold rejects.

    Paper: Sec. 6.3, Algorithm 1, the definition of FRR. What is not accepted is rejected: at the
    threshold or above it, and whatever is not a number.

    >>> frr([0.1, 0.2, 0.5, np.nan], [0.2, 0.6])
    array([0.75, 0.25])
    """
    distances = _checked(user_distances, "distances of the user")
    return (distances.size - _count_accepted(distances, thresholds)) / distances.size


def equal_error(user_distances: ArrayLike, stranger_distances: ArrayLike) -> EqualError:
    """Find the threshold at which the two errors differ least.

    Paper: Sec. 6.3, Algorithm 1, the choice of the threshold. Tried are the finite distances of
    both sides; where several serve equally well, the smallest is taken, which is the strictest.

    >>> equal_error([0.1, 0.2, 0.6], [0.5, 0.7, 0.9])
    EqualError(threshold=0.6, far=0.3333333333333333, frr=0.3333333333333333)
    """
    users = _checked(user_distances, "distances of the user")
    strangers = _checked(stranger_distances, "distances of strangers")
    everyone = np.concatenate([users, strangers])
    thresholds = np.unique(everyone[np.isfinite(everyone)])
    if thresholds.size == 0:
        raise TooFewError(what="finite distances", have=0, need=1)
    false_accepts, false_rejects = far(strangers, thresholds), frr(users, thresholds)
    best = np.argmin(np.abs(false_accepts - false_rejects))
    return EqualError(
        threshold=float(thresholds[best]),
        far=float(false_accepts[best]),
        frr=float(false_rejects[best]),
    )


def _checked(distances: ArrayLike, what: str) -> FloatArray:
    flat = np.asarray(distances, dtype=np.float64).ravel()
    if flat.size == 0:
        raise TooFewError(what=what, have=0, need=1)
    return flat


def _count_accepted(distances: FloatArray, thresholds: ArrayLike) -> NDArray[np.intp]:
    limits = np.asarray(thresholds, dtype=np.float64)
    # NumPy sorts NaN to the end, where no threshold that is a number reaches it.
    below = np.searchsorted(np.sort(distances), limits, side="left")
    return np.where(np.isnan(limits), 0, below)
