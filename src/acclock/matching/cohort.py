"""People who are not the user, known only by their embeddings and how much these vary."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from acclock.errors import ConfigError, SignalError, TooFewError
from acclock.matching.centers import are_unit, as_rows
from acclock.values import FloatArray

_FEWEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class VariationLevels:
    """Mean squared distances, so that one adds to the other."""

    person: float
    """Of people from the middle of all."""
    session: float
    """Of sessions from their person."""
    window: float
    """Of windows from their session."""

    def __post_init__(self) -> None:
        if not all(math.isfinite(level) and level > 0 for level in astuple(self)):
            raise ConfigError(f"levels are positive numbers, not {astuple(self)}")

    def threshold(self, user_distances: FloatArray, *, strictness: float) -> float:
        r"""Give the distance at which a window speaks for the user by so many nats a number.

        .. math:: \tau^2 = \frac{v_1 \left(\frac{1}{v_0} + \ln\frac{v_0}{v_1} - 2 s\right)
                  - (1 - m)^2}{m}

        Ours (docs/decisions/0032). A window is a person's place, plus what the session adds, plus
        what the window adds, alike in all directions. A stranger's lies around zero with the
        variance :math:`v_0` of all three. The user's lies around :math:`m` times the center: the
        mean of the enrolled windows, pulled towards zero as one session of so many windows is
        unsure, with :math:`v_1` of what is then left. ``strictness`` is :math:`s`. The distances
        are the enrolled windows' from the center; nothing else of them is needed.

        >>> levels = VariationLevels(person=0.3, session=0.25, window=0.55)
        >>> tight, loose = (np.full(30, distance) for distance in (0.6, 1.0))
        >>> round(levels.threshold(tight, strictness=0.0), 2)
        1.25
        >>> round(levels.threshold(loose, strictness=0.0), 2)
        1.32
        """
        length = float((1.0 - user_distances**2 / 2.0).mean())
        unsure = self.session + self.window / user_distances.size
        trusted = self.person / (self.person + unsure)
        middle = trusted * length
        stranger = self.person + self.session + self.window
        user = self.person * (1.0 - trusted) + self.session + self.window
        likelier = 1.0 / stranger + math.log(stranger / user) - 2.0 * strictness
        if middle <= 0:
            return 0.0  # windows that point nowhere in common accept nobody
        return math.sqrt(max(user * likelier - (1.0 - middle) ** 2, 0.0) / middle)


def measure_levels(people: Sequence[Sequence[FloatArray]]) -> VariationLevels | None:
    """Measure how people vary; ``None`` unless two or more came twice.

    Takes the windows of every person's sessions. Everybody counts the same, whoever came often
    or stayed long.
    """
    filled = [[rows for rows in sessions if len(rows) >= _FEWEST] for sessions in people]
    centers = [np.stack([rows.mean(axis=0) for rows in one]) for one in filled if one]
    repeated = [theirs for theirs in centers if len(theirs) >= _FEWEST]
    if len(repeated) < _FEWEST:
        return None
    middles = np.stack([theirs.mean(axis=0) for theirs in centers])
    return VariationLevels(
        person=_vary(middles),
        session=float(np.mean([_vary(theirs) for theirs in repeated])),
        window=float(np.mean([np.mean([_vary(rows) for rows in one]) for one in filled if one])),
    )


def _vary(rows: FloatArray) -> float:
    """Give the mean squared distance of rows from their mean, as more of them would show it."""
    return float(((rows - rows.mean(axis=0)) ** 2).sum() / (len(rows) - 1))


_NEIGHBORS = 50
"""How many of the nearest strangers say which kind of people somebody is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrangerKind:
    """Strangers of one origin, and how much one and the same person varies among them."""

    name: str
    """Where they come from: ``simulated``, or the name of a data set."""
    count: int
    """How many embeddings of the cohort are theirs."""
    widest: float
    """How far apart the two groups lie into which one person's windows fall
    (:func:`acclock.matching.coaching.measure_widest`)."""
    levels: VariationLevels | None = None
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
    kinds: tuple[StrangerKind, ...] = ()
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
