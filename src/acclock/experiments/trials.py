"""Which windows make a template, and everybody's windows tried against everybody's templates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from acclock.errors import ConfigError
from acclock.experiments.gallery import Gallery, Indices
from acclock.matching.centers import are_unit, center_of
from acclock.matching.cohort import Cohort
from acclock.matching.normalization import measure_all
from acclock.matching.threshold import RULES, Rule
from acclock.values import BoolArray, FloatArray

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
class EnrollmentPlan:
    """Whose templates are made, and of which windows. A template's own windows never try it."""

    owners: Indices
    """Whose template it is: one number per template."""
    enrolled: BoolArray
    """``(template, window)``: what each is made of."""


def plan(gallery: Gallery, protocol: ProtocolName, *, seed: int = 0) -> EnrollmentPlan:
    """Decide by the protocol's name what enrolls and what is tried."""
    if protocol == "cross-session":
        return plan_cross_session(gallery)
    if protocol == "within-session":
        return plan_within_session(gallery, seed=seed)
    names = ", ".join(FEWEST_RECORDINGS)
    raise ConfigError(f"a protocol is one of {names}, not {protocol!r}")


def plan_cross_session(gallery: Gallery) -> EnrollmentPlan:
    """Enroll everyone with the first half of their recordings; of an odd number, the smaller."""
    rows = []
    for person in range(gallery.people):
        theirs = np.unique(gallery.recordings[gallery.wearers == person])
        rows.append(np.isin(gallery.recordings, theirs[: len(theirs) // 2]))
    return EnrollmentPlan(owners=np.arange(gallery.people), enrolled=np.array(rows))


def plan_within_session(gallery: Gallery, *, seed: int) -> EnrollmentPlan:
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
    return EnrollmentPlan(owners=np.repeat(np.arange(gallery.people), _THIRDS), enrolled=enrolled)


_FEWEST = 2
"""Usable windows that make a template; with fewer the person cannot be enrolled."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trials:
    """Each group of windows tried against each template."""

    windows: int
    """How many windows in a row were averaged."""
    distances: FloatArray
    """``(group, template)``; NaN where nothing can be measured, which is a rejection."""
    wearers: Indices
    owners: Indices
    own: BoolArray
    """``(group, template)``: the user's own windows, and not among those that enrolled."""
    others: BoolArray
    """``(group, template)``: somebody else's windows, all of them."""

    @property
    def people(self) -> int:
        return int(self.owners.max()) + 1

    def less(self, thresholds: FloatArray) -> "Trials":
        """Give the same trials, each distance less the threshold of its template."""
        return replace(self, distances=self.distances - thresholds)

    def select(self, users: BoolArray, pairs: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Give the users' own distances and the strangers', for some users and some pairs.

        ``pairs[user, wearer]`` says which strangers are tried against whom.
        """
        own = self.own & users[self.owners]
        others = self.others & pairs[self.owners, self.wearers[:, np.newaxis]]
        return self.distances[own], self.distances[others]


def enroll_all(gallery: Gallery, plan: EnrollmentPlan) -> FloatArray:
    """Give the center of every template: NaN where the usable windows are too few."""
    usable = are_unit(gallery.embeddings)
    centers = np.full((len(plan.owners), gallery.embeddings.shape[1]), np.nan)
    for center, enrolled in zip(centers, plan.enrolled & usable, strict=True):
        if np.count_nonzero(enrolled) >= _FEWEST:
            center[:] = center_of(gallery.embeddings[enrolled])
    return centers


def try_all(
    gallery: Gallery,
    plan: EnrollmentPlan,
    centers: FloatArray,
    *,
    windows: int,
    rule: Rule = RULES["paper"],
    cohort: Cohort | None = None,
) -> Trials:
    """Measure every group of so many windows in a row against every template, as the rule does."""
    groups = group(gallery.recordings, windows)
    distances = measure_all(centers, gallery.embeddings, rule=rule, cohort=cohort)
    wearers = gallery.wearers[groups[:, 0]]
    same = wearers[:, np.newaxis] == plan.owners
    enrolled = plan.enrolled.T[groups].any(axis=1)
    return Trials(
        windows=windows,
        distances=average(distances[groups]),
        wearers=wearers,
        owners=plan.owners,
        own=same & ~enrolled,
        others=~same,
    )


def pool_trials(parts: Sequence[Trials]) -> Trials:
    """Lay the trials of several models side by side: nobody is tried by another's model."""
    before = np.cumsum([0] + [part.people for part in parts])
    shape = (sum(len(one.wearers) for one in parts), sum(len(one.owners) for one in parts))
    distances = np.full(shape, np.nan)
    own, others = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    row = column = 0
    for part in parts:
        rows, columns = part.distances.shape
        block = slice(row, row + rows), slice(column, column + columns)
        distances[block], own[block], others[block] = part.distances, part.own, part.others
        row, column = row + rows, column + columns
    return Trials(
        windows=parts[0].windows,
        distances=distances,
        wearers=np.concatenate([one.wearers + n for one, n in zip(parts, before, strict=False)]),
        owners=np.concatenate([one.owners + n for one, n in zip(parts, before, strict=False)]),
        own=own,
        others=others,
    )


def group(recordings: Indices, windows: int) -> Indices:
    """Give the numbers of the windows in each group: in a row, in one recording, none twice.

    What is left at the end of a recording makes no group.

    >>> group(np.array([0, 0, 0, 0, 0, 1, 1, 1]), 2)
    array([[0, 1],
           [2, 3],
           [5, 6]])
    """
    if windows < 1:
        raise ConfigError(f"a group holds at least one window, not {windows}")
    _, firsts, which, counts = np.unique(
        recordings, return_index=True, return_inverse=True, return_counts=True
    )
    places = np.arange(recordings.size) - firsts[which]
    begins = (places % windows == 0) & (places + windows <= counts[which])
    return np.flatnonzero(begins)[:, np.newaxis] + np.arange(windows)


def average(distances: FloatArray) -> FloatArray:
    """Average over the windows of a group, ``(group, window, template)``, as verifying does.

    Windows without a distance are left out; where none has one, there is no distance (NaN).
    """
    usable = np.isfinite(distances)
    count = usable.sum(axis=1)
    total = np.where(usable, distances, 0.0).sum(axis=1)
    means = np.full(total.shape, np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means
