"""Which windows make a template and which are tried against it."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from acclock.errors import ConfigError
from acclock.experiments.gallery import Gallery, Indices
from acclock.values import BoolArray

ProtocolName = Literal["within-session", "cross-session"]

FEWEST_RECORDINGS: dict[ProtocolName, int] = {"within-session": 1, "cross-session": 2}
"""How many recordings a person needs to take part."""
AVERAGED: dict[ProtocolName, tuple[int, ...]] = {
    "within-session": (1,),
    "cross-session": (1, 5, 15),
}
"""How many windows in a row are averaged; windows drawn at random do not follow each other."""

_THIRDS = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """Whose templates are made, and of which windows. A template's own windows never try it."""

    owners: Indices
    """Whose template it is: one number per template."""
    enrolled: BoolArray
    """``(template, window)``: what each is made of."""


def plan(gallery: Gallery, protocol: ProtocolName, *, seed: int = 0) -> Plan:
    """Decide by the protocol's name what enrolls and what is tried."""
    if protocol == "cross-session":
        return plan_cross_session(gallery)
    if protocol == "within-session":
        return plan_within_session(gallery, seed=seed)
    names = ", ".join(FEWEST_RECORDINGS)
    raise ConfigError(f"a protocol is one of {names}, not {protocol!r}")


def plan_cross_session(gallery: Gallery) -> Plan:
    """Enroll everyone with the first half of their recordings; of an odd number, the smaller."""
    rows = []
    for person in range(gallery.people):
        theirs = np.unique(gallery.recordings[gallery.wearers == person])
        rows.append(np.isin(gallery.recordings, theirs[: len(theirs) // 2]))
    return Plan(owners=np.arange(gallery.people), enrolled=np.array(rows))


def plan_within_session(gallery: Gallery, *, seed: int) -> Plan:
    """Enroll everyone with a random third of their windows, and with each third in turn.

    Paper: Sec. 7.2.1, where 240 windows are dealt into three groups of 80, each of which
    registers once while the other two are tried. Both sides hold windows of the same wearing.
    """
    chance = np.random.default_rng(seed)
    enrolled = np.zeros((gallery.people * _THIRDS, len(gallery)), dtype=bool)
    for person in range(gallery.people):
        dealt = chance.permutation(np.flatnonzero(gallery.wearers == person))
        for third in range(_THIRDS):
            enrolled[person * _THIRDS + third, dealt[third::_THIRDS]] = True
    return Plan(owners=np.repeat(np.arange(gallery.people), _THIRDS), enrolled=enrolled)
