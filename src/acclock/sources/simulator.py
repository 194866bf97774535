"""Simulated people, live: a script is played as an earphone would deliver it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from zlib import crc32

import numpy as np

from acclock.errors import ConfigError
from acclock.live.chunks import Break
from acclock.simulation import Movement, Person, Scene, draw_person, simulate
from acclock.sources.replay import PlaybackClock, play
from acclock.sources.source import Faults, Stream
from acclock.values import Recording

Deed = Literal["wear", "remove", "lose", "disconnect"]
"""``lose``: samples are lost on the way. ``disconnect``: the radio says that it is gone."""

SHORTEST_WEARING_S = 6.0
"""Changing hands takes five seconds, and less than a second of wearing is none."""

_DURATION = re.compile(r"\s+(\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?)$")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_USUAL_S: dict[Deed, float] = {"wear": 60.0, "remove": 10.0, "lose": 3.0, "disconnect": 3.0}
_DEEDS: dict[str, Deed] = {"remove": "remove", "lose": "lose", "disconnect": "disconnect"}
_NAME = r"(?P<name>[\w.-]+)"
_WEAR = re.compile(rf"wear\s+{_NAME}")
_MOVE = re.compile(rf"{_NAME}\s+(?P<verb>wears|sits|blinks|shakes|talks|walks|runs)(?:\s+.*head)?")
_MOVEMENTS: dict[str, Movement] = {
    "wears": "still",
    "sits": "still",
    "blinks": "blink",
    "shakes": "head-shake",
    "talks": "talk",
    "walks": "walk",
    "runs": "run",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStep:
    """One thing that happens, for a while."""

    deed: Deed
    duration_s: float
    person: str = ""
    """Who wears it, in a wearing."""
    movement: Movement = "still"

    def __post_init__(self) -> None:
        shortest_s = SHORTEST_WEARING_S if self.deed == "wear" else 1.0
        if not shortest_s <= self.duration_s <= 86400.0:
            raise ConfigError(
                f"to {self.deed} lasts from {shortest_s:g} s to a day, not {self.duration_s:g} s"
            )


def parse_script(text: str) -> tuple[ScriptStep, ...]:
    """Read acts that commas part; those without a duration last as long as usual.

    >>> [act.deed for act in parse_script("wear anna 60 s, anna walks 20 s, remove, wear ben")]
    ['wear', 'wear', 'remove', 'wear']
    >>> parse_script("wear anna 2 min")[0].duration_s
    120.0
    """
    acts = tuple(_parse_act(part.strip()) for part in text.split(",") if part.strip())
    if not acts:
        raise ConfigError("a script has at least one act, such as 'wear anna 60 s'")
    return acts


def _parse_act(text: str) -> ScriptStep:
    timed = _DURATION.search(text)
    what = text[: timed.start()] if timed else text
    given_s = float(timed[1]) * _SECONDS[timed[2][0]] if timed else None
    if (deed := _DEEDS.get(what)) is not None:
        return ScriptStep(deed=deed, duration_s=_USUAL_S[deed] if given_s is None else given_s)
    usual_s = _USUAL_S["wear"] if given_s is None else given_s
    if worn := _WEAR.fullmatch(what):
        return ScriptStep(deed="wear", duration_s=usual_s, person=worn["name"])
    if moved := _MOVE.fullmatch(what):
        movement = _MOVEMENTS[moved["verb"]]
        return ScriptStep(deed="wear", duration_s=usual_s, person=moved["name"], movement=movement)
    raise ConfigError(
        f"'{text}' is not an act; say 'wear anna 60 s', 'anna walks 20 s' (sits, blinks, shakes, "
        "talks, walks, runs), 'remove 10 s', 'lose 3 s' or 'disconnect 3 s'"
    )


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
        script: str | Sequence[ScriptStep],
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
        self._pace = PlaybackClock(speed)

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

    def perform(self, acts: Sequence[ScriptStep]) -> Iterator[Recording | Break]:
        for act in acts:
            if act.deed == "wear":
                yield from self._wear(act)
            elif act.deed == "remove":
                yield self._remove(act.duration_s)
            else:
                if act.deed == "disconnect":
                    yield Break(reason="disconnect", received_s=0.0)
                lost = self._draw(self._last or name_person("nobody"), act.duration_s)
                yield replace(lost, received=np.zeros(len(lost), dtype=bool))

    def _wear(self, act: ScriptStep) -> Iterator[Recording]:
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
