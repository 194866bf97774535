"""How much embeddings vary, and at which level: people, the sessions of one, windows of one."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from acclock.errors import ConfigError
from acclock.values import FloatArray

_FEWEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
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

        >>> levels = Levels(person=0.3, session=0.25, window=0.55)
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


def measure_levels(people: Sequence[Sequence[FloatArray]]) -> Levels | None:
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
    return Levels(
        person=_vary(middles),
        session=float(np.mean([_vary(theirs) for theirs in repeated])),
        window=float(np.mean([np.mean([_vary(rows) for rows in one]) for one in filled if one])),
    )


def _vary(rows: FloatArray) -> float:
    """Give the mean squared distance of rows from their mean, as more of them would show it."""
    return float(((rows - rows.mean(axis=0)) ** 2).sum() / (len(rows) - 1))
