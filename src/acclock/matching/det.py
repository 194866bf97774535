"""The whole trade between the two errors, and what it costs to admit hardly any stranger."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from acclock.errors import ConfigError, TooFewError
from acclock.matching.rates import far, frr
from acclock.values import FloatArray


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
