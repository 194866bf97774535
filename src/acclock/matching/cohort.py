"""People who are not the user, known only by their embeddings."""

import hashlib
from dataclasses import dataclass

import numpy as np

from acclock.errors import ConfigError, SignalError, TooFewError
from acclock.matching.centers import are_unit, as_rows
from acclock.matching.levels import Levels
from acclock.values import FloatArray

_NEIGHBORS = 50
"""How many of the nearest strangers say which kind of people somebody is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Strangers of one origin, and how much one and the same person varies among them."""

    name: str
    """Where they come from: ``simulated``, or the name of a data set."""
    count: int
    """How many embeddings of the cohort are theirs."""
    widest: float
    """How far apart the two groups lie into which one person's windows fall
    (:func:`acclock.matching.coherence.measure_widest`)."""
    levels: Levels | None = None
    """How much they vary; unknown where nobody came twice, and in older files."""

    def __post_init__(self) -> None:
        if self.count < 1 or not 0.0 <= self.widest <= 2.0:
            raise ConfigError(f"a kind of strangers has {self.count} of width {self.widest}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cohort:
    """Embeddings of strangers, made by one model: what an enrollment is measured against."""

    embeddings: FloatArray
    """Unit vectors in rows. Read-only."""
    model: str
    """Which model made them. Templates made with this cohort carry its name."""
    kinds: tuple[Kind, ...] = ()
    """Where the rows come from, in their order; nothing when nobody wrote it down."""
    people: tuple[str, ...] = ()
    """Whom they were made from, as :func:`hash_stranger` gives them."""

    def __post_init__(self) -> None:
        embeddings = as_rows(self.embeddings).copy()
        if embeddings.shape[0] == 0:
            raise TooFewError(what="embeddings in the cohort", have=0, need=1)
        if not are_unit(embeddings).all():
            raise SignalError("a cohort holds finite vectors of length one; not all of these are")
        if self.kinds and sum(kind.count for kind in self.kinds) != embeddings.shape[0]:
            raise SignalError("the kinds of a cohort do not add up to its embeddings")
        embeddings.flags.writeable = False
        object.__setattr__(self, "embeddings", embeddings)

    def __len__(self) -> int:
        return int(self.embeddings.shape[0])

    def distances_to(self, center: FloatArray) -> FloatArray:
        """Give how far each stranger lies from a center, all of them being of length one.

        Then the cosine says it, which is a tenth of the work of a difference.
        """
        return np.asarray(np.sqrt(np.maximum(2.0 - 2.0 * (self.embeddings @ center), 0.0)))

    @property
    def knows_levels(self) -> bool:
        """Whether it is known of every kind how much its people vary."""
        return bool(self.kinds) and all(kind.levels is not None for kind in self.kinds)

    def share_kinds(self, distances: FloatArray) -> FloatArray:
        """Give the share of each kind among the strangers nearest to somebody.

        ``distances`` are that one's from every row.
        """
        nearest = np.argsort(distances, kind="stable")[:_NEIGHBORS]
        which = np.repeat(np.arange(len(self.kinds)), [kind.count for kind in self.kinds])
        return np.bincount(which[nearest], minlength=len(self.kinds)) / len(nearest)

    def was_made_from(self, person: str) -> bool:
        """Tell whether this person went into one of the strangers."""
        return hash_stranger(person, model=self.model) in self.people


def hash_stranger(person: str, *, model: str) -> str:
    """Give a name in a form that can be recognized but not read back, other for each model.

    >>> hash_stranger("mscardio/Subject_0001", model="a")
    '7c5cd3d3d12b8fa9'
    """
    return hashlib.sha256(f"{model}\n{person}".encode()).hexdigest()[:16]
