"""Windows laid out in a plane, near to those that are like them."""

import numpy as np

from acclock.experiments.paper.encoders import cut_members, embed_member, train_encoder
from acclock.experiments.paper.measures.rates import find_cast, find_lesson
from acclock.experiments.paper.units import Outcome, Unit
from acclock.matching.centers import are_unit
from acclock.training.batches import keep_axes
from acclock.values import FloatArray

_EACH = 40
"""Windows of a person."""
_RAW = 1.0
"""The ``setting`` that leaves the windows as they are, without an encoder."""


def measure(unit: Unit) -> Outcome:
    """Lay out the windows of people whom the encoder does not know by t-SNE.

    Paper: Sec. 5, Fig. 11. In numbers, which the paper has not: the silhouette of people's windows
    before they are laid out, by cosine distance; 1 is well apart and 0 is mixed.
    """
    from sklearn.manifold import TSNE  # seconds to load, and only this needs it
    from sklearn.metrics import silhouette_score

    rows = {one.name: _choose(_find_rows(unit, one.name)) for one in find_cast(unit)}
    people = np.repeat(np.arange(len(rows)), [len(some) for some in rows.values()])
    whole = np.concatenate(list(rows.values()))
    perplexity = min(30.0, (len(whole) - 1) / 3)
    laid = TSNE(metric="cosine", init="random", perplexity=perplexity, random_state=unit.seed)
    places = laid.fit_transform(whole)
    return Outcome(
        values={"silhouette, of -1 to 1": float(silhouette_score(whole, people, metric="cosine"))},
        series={name: places[people == who].tolist() for who, name in enumerate(rows)},
    )


def _find_rows(unit: Unit, name: str) -> FloatArray:
    lesson = find_lesson(unit)
    encoder = train_encoder(lesson)
    if unit.variant.setting != _RAW:
        return np.concatenate(embed_member(lesson, name))
    pieces = cut_members(unit.cohort, unit.scale, unit.seed, encoder.preparation)[name]
    windows = keep_axes(np.concatenate([piece.windows for piece in pieces]), encoder.axes)
    flat = windows.reshape(len(windows), -1).astype(np.float64)
    return np.asarray(flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-12))


def _choose(rows: FloatArray) -> FloatArray:
    known = rows[are_unit(rows)]
    count = min(_EACH, len(known))
    return np.asarray(known[np.linspace(0, len(known) - 1, count).astype(int)])
