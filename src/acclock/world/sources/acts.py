"""A script of what happens to an earphone: who wears it, how they move, when they take it out."""

import re
from dataclasses import dataclass
from typing import Literal

from acclock.errors import ConfigError
from acclock.simulation import Movement

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
class Act:
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


def parse_script(text: str) -> tuple[Act, ...]:
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


def _parse_act(text: str) -> Act:
    timed = _DURATION.search(text)
    what = text[: timed.start()] if timed else text
    given_s = float(timed[1]) * _SECONDS[timed[2][0]] if timed else None
    if (deed := _DEEDS.get(what)) is not None:
        return Act(deed=deed, duration_s=_USUAL_S[deed] if given_s is None else given_s)
    usual_s = _USUAL_S["wear"] if given_s is None else given_s
    if worn := _WEAR.fullmatch(what):
        return Act(deed="wear", duration_s=usual_s, person=worn["name"])
    if moved := _MOVE.fullmatch(what):
        movement = _MOVEMENTS[moved["verb"]]
        return Act(deed="wear", duration_s=usual_s, person=moved["name"], movement=movement)
    raise ConfigError(
        f"'{text}' is not an act; say 'wear anna 60 s', 'anna walks 20 s' (sits, blinks, shakes, "
        "talks, walks, runs), 'remove 10 s', 'lose 3 s' or 'disconnect 3 s'"
    )
