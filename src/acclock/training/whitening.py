"""A head in closed form: every direction weighed by how little it varies within a person."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from acclock.errors import ConfigError, TooFewError
from acclock.values import FloatArray

Numbers = NDArray[np.intp]

_CONSTANT = 1e-4
"""A feature that varies less says nothing but how numbers are rounded, and counts for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhiteningConfig:
    """How the head is found. Ours (docs/decisions/0030)."""

    days: float = 0.3
    """How much the change of a person from one session to another counts beside the change within
    a session. There are far fewer sessions than windows to learn it from."""
    shrinkage: float = 0.6
    """How far the covariance is pulled towards a sphere: 0 trusts what was seen, 1 nothing."""
    sources: float = 10.0
    """How much the difference between data sets counts: it is the device's, and nobody's own."""
    kept: Literal["variance", "people"] = "variance"
    """Which directions are kept: those in which windows vary most, or those in which the known
    people differ most (a linear discriminant analysis, which is the usual way)."""

    def __post_init__(self) -> None:
        if not 0 < self.shrinkage <= 1:
            raise ConfigError(f"shrinkage lies above 0 and up to 1, not {self.shrinkage}")
        if self.kept not in ("variance", "people"):
            raise ConfigError(f"what is kept is 'variance' or 'people', not {self.kept!r}")
        if self.days < 0 or self.sources < 0:
            raise ConfigError(
                f"what counts is not negative: days {self.days}, sources {self.sources}"
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """Whose each window is, as numbers: rows of one session are of one person, of one source."""

    people: Numbers
    sessions: Numbers
    sources: Numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Whitening:
    """Features in, embeddings out: ``weight @ features + bias``, then brought to length one."""

    weight: FloatArray
    bias: FloatArray


def fit_whitening(
    features: FloatArray, labels: Labels, *, width: int, config: WhiteningConfig
) -> Whitening:
    r"""Find the linear map after which people vary alike in every direction.

    .. math:: \mathbf{e} = \mathbf{V}^\top \mathbf{T}^{-1/2} (\mathbf{x} - \bar{\mathbf{x}})

    where :math:`\mathbf{T}` is the shrunk covariance within people and :math:`\mathbf{V}` holds
    the ``width`` directions in which the whitened unit vectors vary most. By default no direction
    is chosen because it tells the known people apart: what does that need not tell others apart.
    """
    spread = features.std(axis=0)
    scale = np.where(spread > _CONSTANT, spread, np.inf)
    rows = features / scale
    who = _find_above(labels.sessions, labels.people)
    sessions = _average_by(labels.sessions, rows)
    people = _average_by(who, sessions)
    sources = _average_by(_find_above(labels.people, labels.sources), people)
    center = sources.mean(axis=0)
    within = _spread(rows, sessions, labels.sessions, weights=_share(labels.sessions, who))
    between = _spread(sessions, people, who, weights=_share_days(who))
    apart = (sources - center).T @ (sources - center)
    covariance = within + config.days * between + config.sources * apart
    whiten = _invert_root(_shrink(covariance, config.shrinkage))
    if config.kept == "people":
        white = (people - center) @ whiten
    else:
        white = (rows - center) @ whiten
        white /= np.linalg.norm(white, axis=1, keepdims=True)
    directions = np.linalg.eigh(np.cov(white.T))[1][:, ::-1][:, :width]
    turned = (whiten @ directions).T
    return Whitening(weight=turned / scale, bias=-turned @ center)


def _average_by(keys: Numbers, rows: FloatArray) -> FloatArray:
    """Give the mean of the rows of each key, from key 0 on."""
    count = np.bincount(keys)
    if (count == 0).any():
        raise TooFewError(what="windows of every session and person", have=0, need=1)
    means = np.zeros((count.size, rows.shape[1]))
    np.add.at(means, keys, rows)
    return np.asarray(means / count[:, np.newaxis])


def _find_above(keys: Numbers, above: Numbers) -> Numbers:
    """Give for each key what its rows belong to."""
    return above[np.unique(keys, return_index=True)[1]]


def _spread(
    rows: FloatArray, means: FloatArray, keys: Numbers, *, weights: FloatArray
) -> FloatArray:
    deviations = (rows - means[keys]) * np.sqrt(weights)[:, np.newaxis]
    return np.asarray(deviations.T @ deviations)


def _share(sessions: Numbers, who: Numbers) -> FloatArray:
    """Let every person count the same, and of a person every session."""
    windows, held = np.bincount(sessions), np.bincount(who)
    people = held.size
    return np.asarray(1.0 / (windows[sessions] * held[who[sessions]] * people))


def _share_days(who: Numbers) -> FloatArray:
    """Let everybody who came twice count the same; who came once says nothing about days."""
    held = np.bincount(who)
    repeated = max(int((held > 1).sum()), 1)
    return np.where(held[who] > 1, 1.0 / (np.maximum(held[who] - 1, 1) * repeated), 0.0)


def _shrink(covariance: FloatArray, share: float) -> FloatArray:
    size = len(covariance)
    return (1.0 - share) * covariance + share * np.trace(covariance) / size * np.eye(size)


def _invert_root(covariance: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)
