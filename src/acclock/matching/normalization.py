"""Distances in the unit in which a rule decides: plain, or as the nearest strangers see them."""

from dataclasses import dataclass

import numpy as np

from acclock.errors import ConfigError, TooFewError
from acclock.matching.centers import are_unit, as_rows, distances_to
from acclock.matching.cohort import Cohort
from acclock.matching.threshold import Rule
from acclock.values import FloatArray

_LEAST = 1e-6
"""Strangers nearer than this are the embedding itself; spreads below it are none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surroundings:
    """How far the nearest strangers lie from some embeddings: one mean and spread for each."""

    mean: FloatArray
    spread: FloatArray


def measure(
    center: FloatArray, embeddings: FloatArray, *, rule: Rule, cohort: Cohort | None
) -> FloatArray:
    """Give the distance of each embedding from a center in the unit of the rule."""
    distances = distances_to(center, embeddings)
    return convert(distances, center=center, embeddings=embeddings, rule=rule, cohort=cohort)


def measure_all(
    centers: FloatArray, embeddings: FloatArray, *, rule: Rule, cohort: Cohort | None
) -> FloatArray:
    """Give the distances of many embeddings from many centers, ``(embedding, center)``, at once.

    What :func:`measure` gives for one center is one column of it.
    """
    usable = are_unit(embeddings)[:, np.newaxis] & are_unit(centers)
    cosines = np.nan_to_num(embeddings) @ np.nan_to_num(centers).T
    distances = np.where(usable, np.sqrt(np.maximum(2.0 - 2.0 * cosines, 0.0)), np.nan)
    return _normalize(distances, centers, embeddings, rule=rule, cohort=cohort)


def convert(
    distances: FloatArray,
    *,
    center: FloatArray,
    embeddings: FloatArray,
    rule: Rule,
    cohort: Cohort | None,
) -> FloatArray:
    r"""Bring plain distances of embeddings from a center into the unit of the rule.

    .. math:: d' = \frac12 \left(\frac{d - \mu_c}{\sigma_c} + \frac{d - \mu_e}{\sigma_e}\right)

    This is adaptive symmetric normalization (AS-norm): the mean and the spread of the nearest
    strangers, once around the center and once around each embedding. Zero is as far as those
    strangers are on average; the user's own windows lie well below.
    """
    columns = distances[:, np.newaxis]
    rows, centers = as_rows(embeddings), as_rows(center)
    return _normalize(columns, centers, rows, rule=rule, cohort=cohort)[:, 0]


def _normalize(
    distances: FloatArray,
    centers: FloatArray,
    embeddings: FloatArray,
    *,
    rule: Rule,
    cohort: Cohort | None,
) -> FloatArray:
    """Convert a matrix of plain distances, ``(embedding, center)``."""
    if rule.neighbors is None:
        return distances
    if cohort is None:
        raise ConfigError("AS-norm measures in strangers: it needs the cohort of the model")
    around_centers = survey(centers, cohort, neighbors=rule.neighbors)
    around_windows = survey(embeddings, cohort, neighbors=rule.neighbors)
    seen_from_centers = (distances - around_centers.mean) / around_centers.spread
    seen_from_windows = (distances.T - around_windows.mean) / around_windows.spread
    return (seen_from_centers + seen_from_windows.T) / 2.0


def survey(embeddings: FloatArray, cohort: Cohort, *, neighbors: int) -> Surroundings:
    """Look at the nearest strangers around each embedding, not counting itself."""
    if len(cohort) <= neighbors:
        raise TooFewError(what="embeddings in the cohort", have=len(cohort), need=neighbors + 1)
    usable = are_unit(embeddings)
    cosines = np.where(usable[:, None], embeddings, 0.0) @ cohort.embeddings.T
    distances = np.sqrt(np.maximum(2.0 - 2.0 * cosines, 0.0))
    distances[distances < _LEAST] = np.inf
    nearest = np.partition(distances, neighbors - 1, axis=1)[:, :neighbors]
    return Surroundings(
        mean=np.where(usable, nearest.mean(axis=1), np.nan),
        spread=np.where(usable, np.maximum(nearest.std(axis=1), _LEAST), np.nan),
    )
