"""Parts of an evaluation that are looked at on their own: same devices, and groups of people."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from acclock.experiments.participants import Participant
from acclock.experiments.trials import Trials
from acclock.values import BoolArray

FEWEST = 2
"""People in a group: the errors of one alone are that person's, and nobody else's business."""
_AGES = (30, 50)
"""Where one age group ends and the next begins."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """Some users, and which strangers are tried against them."""

    kind: str
    """What divides people: ``device``, ``sex``, ``age`` or ``race``."""
    name: str
    users: BoolArray
    pairs: BoolArray
    """``(user, wearer)``."""

    @property
    def people(self) -> int:
        return int(np.count_nonzero(self.users))

    def can_be_tried(self, trials: Trials) -> bool:
        """Whether there is a trial of a user and one of a stranger."""
        return all(distances.size for distances in trials.select(self.users, self.pairs))


def divide(participants: Sequence[Participant]) -> list[Part]:
    """Give every part that the data tells of and that holds at least two people."""
    labels = {
        "sex": [person.tell("sex") for person in participants],
        "age": [name_age(person.tell("age")) for person in participants],
        "race": [person.tell("race") for person in participants],
    }
    parts = _divide_devices([person.device for person in participants])
    for kind, told in labels.items():
        for name in sorted({one for one in told if one is not None}):
            users = np.array([one == name for one in told])
            parts.append(Part(kind=kind, name=name, users=users, pairs=_against_all(users)))
    return [part for part in parts if part.people >= FEWEST]


def name_age(told: str | None) -> str | None:
    """Name the age group of somebody who told their age in years.

    >>> name_age("21"), name_age("30"), name_age("62"), name_age("young")
    ('under 30', '30 to 49', '50 and over', None)
    """
    try:
        years = float(told or "")
    except ValueError:
        return None
    first, second = _AGES
    if years < first:
        return f"under {first}"
    return f"{first} to {second - 1}" if years < second else f"{second} and over"


def _divide_devices(devices: Sequence[str | None]) -> list[Part]:
    """Tell strangers with the user's own model of device from those with another."""
    known = np.array([device is not None for device in devices])
    both = known[:, np.newaxis] & known
    equal = np.array([[one == other for other in devices] for one in devices])
    apart = ~np.eye(len(devices), dtype=bool)
    kinds = {"same": both & equal & apart, "another": both & ~equal}
    return [
        Part(kind="device", name=name, users=pairs.any(axis=1), pairs=pairs)
        for name, pairs in kinds.items()
    ]


def _against_all(users: BoolArray) -> BoolArray:
    return np.broadcast_to(users[:, np.newaxis], (users.size, users.size))
