"""Who is learned from: people, their sessions, whose turn it is, and whether they are enough."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from acclock.errors import TooFewError
from acclock.training.grid import Grid
from acclock.values import Recording

FEWEST_WINDOWS = 12
"""Of a person, below which there is nothing to learn from or to judge by: 48 s."""
FEWEST_PEOPLE = 2
"""In each fold: a person and a stranger."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SubjectSession:
    """One recording with its clean windows."""

    recording: Recording
    grid: Grid


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subject:
    """One person."""

    name: str
    source: str
    """The data set. People of different ones are told apart by their devices, so they are never
    each other's strangers when a model is judged."""
    sessions: tuple[SubjectSession, ...]
    """The oldest first, and each with at least one window."""

    @property
    def window_count(self) -> int:
        return sum(len(session.grid) for session in self.sessions)


def check_subjects(subjects: Sequence[Subject], *, folds: int) -> list[Subject]:
    """Give the people who have windows enough, or say that they are too few to train on."""
    enough = [subject for subject in subjects if subject.window_count >= FEWEST_WINDOWS]
    need = folds * FEWEST_PEOPLE
    if len(enough) < need:
        what = f"people with at least {FEWEST_WINDOWS} usable windows"
        raise TooFewError(what=what, have=len(enough), need=need)
    return enough


def deal(subjects: Sequence[Subject], *, folds: int, seed: int) -> Mapping[str, int]:
    """Give every person a fold, the data sets spread evenly over the folds.

    Paper: Sec. 7.1.1, three groups of people of whom one is always kept apart.
    Who was recorded only once cannot be met again on another day: where enough others can, they
    are in no fold (-1) and always learned from.
    """
    chance = np.random.default_rng(seed)
    sources = sorted({subject.source for subject in subjects})
    dealt: list[str] = []
    for source in sources:
        names = sorted(_find_judges([one for one in subjects if one.source == source], folds))
        dealt += [names[n] for n in chance.permutation(len(names))]
    placed = {name: place % folds for place, name in enumerate(dealt)}
    return {subject.name: placed.get(subject.name, -1) for subject in subjects}


def _find_judges(subjects: Sequence[Subject], folds: int) -> list[str]:
    repeated = [subject.name for subject in subjects if len(subject.sessions) > 1]
    enough = len(repeated) >= folds * FEWEST_PEOPLE
    return repeated if enough else [subject.name for subject in subjects]


ENOUGH_PEOPLE = 20
"""Of a data set; docs/train-on-your-data.md has the errors of models that learned from fewer."""
ENOUGH_SESSIONS = 2
"""Of a person: one to enroll with, and one after the earphone was taken out to be judged by."""


def find_shortfalls(subjects: Sequence[Subject]) -> list[str]:
    """Say what a training on these people lacks, a sentence each; nothing where it lacks nothing.

    Each data set is counted alone: simulated people do not replace those of a new earphone.
    """
    sources = sorted({subject.source for subject in subjects})
    by_source = [[one for one in subjects if one.source == source] for source in sources]
    return [sentence for people in by_source for sentence in _describe(people)]


def _describe(people: Sequence[Subject]) -> Iterator[str]:
    source, count = people[0].source, len(people)
    if count < ENOUGH_PEOPLE:
        yield (
            f"{source} has {count} people with enough windows; a model worth using needs at least"
            f" {ENOUGH_PEOPLE} (docs/train-on-your-data.md)"
        )
    once = sum(len(one.sessions) < ENOUGH_SESSIONS for one in people)
    if once:
        yield (
            f"{once} of {count} people of {source} have fewer than {ENOUGH_SESSIONS} usable"
            " recordings; within one wearing everybody is easier to recognize than on another day"
        )
