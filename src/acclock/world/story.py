"""A story of one earphone: its owner, a few steps, a table, a stranger, and the owner again."""

import asyncio
from dataclasses import dataclass
from itertools import accumulate
from math import inf

from acclock.session.policies import BALANCED
from acclock.world.desk import Desk
from acclock.world.monitoring.chronicle import Chronicle, write_chronicle
from acclock.world.monitoring.ward import Ward
from acclock.world.sources.acts import Act, parse_script
from acclock.world.sources.simulator import SimulatorSource

_SCRIPT = (
    "wear {owner} 60 s, {owner} walks 8 s, {owner} sits 32 s, remove 10 s, "
    "wear {stranger} 60 s, remove 10 s, wear {owner} 60 s"
)
_TITLES = (
    "the owner puts it in",
    "walks a few steps",
    "sits down",
    "takes it out",
    "a stranger puts it in",
    "and out",
    "the owner again",
)
_OPENING, _WALK, _REST, _REMOVAL, _STRANGER, _, _RETURN = range(len(_TITLES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """What really happened, and when."""

    title: str
    act: Act
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Story:
    """What happened, and what the monitor told of it."""

    chapters: tuple[Chapter, ...]
    chronicle: Chronicle

    @property
    def opened_after_s(self) -> float | None:
        """How long the owner had to wear it until the session was open."""
        return self._opened_in(self.chapters[_OPENING])

    @property
    def opened_again_after_s(self) -> float | None:
        return self._opened_in(self.chapters[_RETURN])

    @property
    def paused_by_the_walk_s(self) -> float:
        """For how long the session was locked because nothing could be heard but steps."""
        walk, rest = self.chapters[_WALK], self.chapters[_REST]
        return rest.end_s - walk.start_s - self.chronicle.open_s(walk.start_s, rest.end_s)

    @property
    def open_after_the_walk(self) -> bool:
        """Whether it was still open, or again by itself, when the owner took it out."""
        end_s = self.chapters[_REST].end_s
        return self.chronicle.open_s(end_s - 1.0, end_s) > 0.99

    @property
    def locked_after_s(self) -> float | None:
        """How long after it was taken out of the ear the session was locked."""
        removal = self.chapters[_REMOVAL]
        for moment in self.chronicle.changes():
            if moment.state == "locked" and removal.start_s <= moment.at_s < removal.end_s:
                return moment.at_s - removal.start_s
        return None

    @property
    def open_for_the_stranger_s(self) -> float:
        chapter = self.chapters[_STRANGER]
        return self.chronicle.open_s(chapter.start_s, chapter.end_s)

    @property
    def ends_well(self) -> bool:
        """Whether the session was open for the owner, and for nobody else."""
        opened = self.opened_after_s is not None and self.opened_again_after_s is not None
        locked = self.locked_after_s is not None and not self.open_for_the_stranger_s
        return opened and locked and self.open_after_the_walk

    def _opened_in(self, chapter: Chapter) -> float | None:
        for moment in self.chronicle.changes():
            if moment.state == "unlocked" and chapter.start_s <= moment.at_s < chapter.end_s:
                return moment.at_s - chapter.start_s
        return None


def tell_story(desk: Desk, name: str, *, owner: str, stranger: str, seed: int) -> Story:
    """Let a monitor watch over an enrolled person while the story happens, as fast as it can.

    Sessions open by the heartbeat alone here, the paper's seamless entry: a choice that is off
    unless somebody makes it.
    """
    acts = parse_script(_SCRIPT.format(owner=owner, stranger=stranger))
    source = SimulatorSource(acts, speed=inf, seed=seed)
    chronicle = asyncio.run(
        write_chronicle(Ward(desk, name), source, policy=BALANCED.opened_by("heartbeat"))
    )
    return Story(chapters=_number(acts), chronicle=chronicle)


def _number(acts: tuple[Act, ...]) -> tuple[Chapter, ...]:
    ends_s = list(accumulate(act.duration_s for act in acts))
    return tuple(
        Chapter(title=title, act=act, start_s=end_s - act.duration_s, end_s=end_s)
        for title, act, end_s in zip(_TITLES, acts, ends_s, strict=True)
    )
