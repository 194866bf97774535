"""People who do not exist, live: a script is played as an earphone would have felt it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np

from acclock.session.chunks import Break
from acclock.simulation import Movement, Person, Scene, draw_person, simulate
from acclock.values import Recording
from acclock.world.sources.acts import Act, parse_script
from acclock.world.sources.pacing import Pace, play
from acclock.world.sources.source import Faults, Stream

_HANDLING_S = 2.5
"""A hand puts the earphone in, or takes it out and lays it down."""
_LONGEST_PIECE_S = 300.0
"""Drawn at once; longer wearings are drawn in pieces, so that memory stays flat."""
_FIRST_SESSION = 100
"""Mountings from here on, which no enrollment from ``acclock simulate`` has seen."""
_NUMBERED = re.compile(r"(?:person-|simulated-0-)?(\d{1,6})")


def name_person(name: str) -> Person:
    """Give the simulated person of a name: always the same one.

    ``person-003`` is number 3 of ``acclock simulate``; any other name is somebody of its own.

    >>> name_person("person-003") == draw_person(3), name_person("anna") == name_person("ben")
    (True, False)
    """
    numbered = _NUMBERED.fullmatch(name)
    return draw_person(int(numbered[1]) if numbered else 1_000_000 + crc32(name.encode()))


class SimulatorSource:
    """A script of wearings and removals, in real time, faster, or as fast as it is taken."""

    def __init__(
        self,
        script: str | Sequence[Act],
        *,
        speed: float = 1.0,
        loop: bool = False,
        seed: int = 0,
        rate_hz: float = 100.0,
    ) -> None:
        self.name = "simulator"
        self.rate_hz = rate_hz
        self.faults: Faults = Faults()
        self._acts = parse_script(script) if isinstance(script, str) else tuple(script)
        self._scene = Scene(rate_hz=rate_hz)
        self._loop = loop
        self._seed = seed
        self._pace = Pace(speed)

    def now_s(self) -> float:
        return self._pace.now_s()

    def stream(self) -> Stream:
        return play(self.pieces(), self._pace)

    def pieces(self) -> Iterator[Recording | Break]:
        """Draw one recording after the other, and a break where the radio goes."""
        stage = _Stage(self._scene, self._seed)
        yield from stage.perform(self._acts)
        while self._loop:
            yield from stage.perform(self._acts)


class _Stage:
    """Who wears the earphone now, how often it was put in, and what chance comes next."""

    def __init__(self, scene: Scene, seed: int) -> None:
        self._scene = scene
        self._seed = seed * 1_000_003
        self._wearer: Person | None = None
        self._last: Person | None = None
        self._wearings: Counter[str] = Counter()

    def perform(self, acts: Sequence[Act]) -> Iterator[Recording | Break]:
        for act in acts:
            if act.deed == "wear":
                yield from self._wear(act)
            elif act.deed == "remove":
                yield self._remove(act.duration_s)
            else:
                if act.deed == "disconnect":
                    yield Break(reason="disconnect", heard_s=0.0)
                lost = self._draw(self._last or name_person("nobody"), act.duration_s)
                yield replace(lost, received=np.zeros(len(lost), dtype=bool))

    def _wear(self, act: Act) -> Iterator[Recording]:
        """Put the earphone in, if another or nobody wears it, and wear it for the rest."""
        person, left_s = name_person(act.person), act.duration_s
        if person != self._wearer:
            if self._wearer is not None:
                yield self._remove(_HANDLING_S)
                left_s -= _HANDLING_S
            first = self._last is None
            self._wearer = self._last = person
            self._wearings[person.name] += 1
            if not first:  # a stream begins in the ear
                yield self._put_in(person)
                left_s -= _HANDLING_S
        pieces = int(np.ceil(left_s / _LONGEST_PIECE_S))
        for _ in range(pieces):
            yield self._draw(person, left_s / pieces, movement=act.movement)

    def _remove(self, duration_s: float) -> Recording:
        """Take the earphone out and lay it down; what lies there already goes on lying."""
        wearer, self._wearer = self._wearer, None
        if wearer is not None:
            return self._draw(wearer, duration_s, removed_at_s=0.0)
        anybody = self._last or name_person("nobody")
        whole = self._draw(anybody, duration_s + _HANDLING_S, removed_at_s=0.0)
        lying = slice(-round(duration_s * whole.rate_hz), None)
        return replace(whole, samples=whole.samples[:, lying], received=whole.received[lying])

    def _put_in(self, person: Person) -> Recording:
        """Play taking it out backwards: from the table through the hand into the ear."""
        taken_out = self._draw(person, _HANDLING_S, removed_at_s=0.0)
        return replace(taken_out, samples=taken_out.samples[:, ::-1])

    def _draw(
        self,
        person: Person,
        duration_s: float,
        *,
        movement: Movement = "still",
        removed_at_s: float | None = None,
    ) -> Recording:
        self._seed += 1
        scene = replace(
            self._scene,
            duration_s=duration_s,
            session=_FIRST_SESSION + self._wearings[person.name],
            movement=movement,
            removed_at_s=removed_at_s,
        )
        return simulate(person, scene, seed=self._seed).recording
