"""How often a threshold errs, and the whole trade between the two errors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from acclock.errors import ConfigError, TooFewError
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Det:
    """Both errors at every threshold that makes a difference, strictest first."""

    thresholds: FloatArray
    fmr: FloatArray
    """False match rate: strangers accepted. Never falls along the curve."""
    fnmr: FloatArray
    """False non-match rate: the user rejected. Never rises along the curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """One threshold and the two errors there."""

    threshold: float
    fmr: float
    fnmr: float


def det(user_distances: ArrayLike, stranger_distances: ArrayLike) -> Det:
    """Trace the detection error tradeoff, from accepting nobody to accepting everybody.

    >>> curve = det([0.1, 0.2, 0.6], [0.5, 0.7])
    >>> curve.fmr, curve.fnmr.round(2)
    (array([0. , 0. , 0. , 0.5, 0.5, 1. ]), array([1.  , 0.67, 0.33, 0.33, 0.  , 0.  ]))
    """
    both = np.concatenate([np.ravel(user_distances), np.ravel(stranger_distances)])
    thresholds = np.append(np.unique(both[np.isfinite(both)]), np.inf)
    return Det(
        thresholds=thresholds,
        fmr=far(stranger_distances, thresholds),
        fnmr=frr(user_distances, thresholds),
    )


def fnmr_at_fmr(
    user_distances: ArrayLike, stranger_distances: ArrayLike, *, fmr: float
) -> OperatingPoint:
    """Find how often the user is rejected when at most this share of strangers is accepted.

    >>> fnmr_at_fmr([0.1, 0.2, 0.6], [0.5, 0.7], fmr=0.5).fnmr
    0.0
    """
    if not 0 < fmr < 1:
        raise ConfigError(f"a false match rate lies in (0, 1), not {fmr}")
    have, need = np.size(stranger_distances), int(np.ceil(1.0 / fmr))
    if have < need:
        raise TooFewError(what=f"strangers' distances for an FMR of {fmr}", have=have, need=need)
    curve = det(user_distances, stranger_distances)
    last = int(np.searchsorted(curve.fmr, fmr + 1e-12, side="right")) - 1
    return OperatingPoint(
        threshold=float(curve.thresholds[last]),
        fmr=float(curve.fmr[last]),
        fnmr=float(curve.fnmr[last]),
    )
