"""People who do not exist: each with an anatomy, a heart rate and a breath."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from acclock.errors import ConfigError
from acclock.simulation.anatomy import Anatomy, draw_anatomy
from acclock.simulation.streams import stream

Condition = Literal["healthy", "bradycardia", "tachycardia", "coronary", "premature"]

HEART_RATES_BPM: dict[Condition, tuple[float, float]] = {
    "healthy": (58.0, 86.0),
    "bradycardia": (42.0, 56.0),
    "tachycardia": (104.0, 124.0),
    "coronary": (60.0, 86.0),
    "premature": (60.0, 82.0),
}
"""The lowest and highest mean heart rate at rest."""

_J_AMPLITUDE = 0.483
_J_SPREAD = 0.10
"""Standard deviation of its logarithm between people. Ours."""
_CORONARY_AMPLITUDE = 0.75
_CORONARY_VARIABILITY = 0.5
"""A heart short of blood beats more weakly and more evenly. Ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """What stays the same whenever this person puts an earphone on."""

    index: int
    seed: int
    condition: Condition
    anatomy: Anatomy
    heart_rate_bpm: float
    """Mean at rest, sitting."""
    variability: float
    """Standard deviation of the time between beats, as a share of it."""
    breathing_hz: float
    premature_share: float
    """Share of the beats that come too early."""

    @property
    def name(self) -> str:
        return f"simulated-{self.seed}-{self.index:03d}"


def draw_person(index: int, *, seed: int = 0, condition: Condition = "healthy") -> Person:
    """Give person number ``index`` of the population that ``seed`` chooses, always the same one.

    Paper: Sec. 2.1, where the J peak reaches 0.483 m/s² on average.

    >>> draw_person(3) == draw_person(3), draw_person(3) == draw_person(4)
    (True, False)
    """
    if condition not in get_args(Condition):
        raise ConfigError(f"a heart is one of {', '.join(get_args(Condition))}, not {condition!r}")
    chance = stream("person", seed, index)
    heart_rate_bpm = float(chance.uniform(*HEART_RATES_BPM[condition]))
    amplitude = _J_AMPLITUDE * float(np.exp(chance.normal(0.0, _J_SPREAD)))
    weak = condition == "coronary"
    return Person(
        index=index,
        seed=seed,
        condition=condition,
        heart_rate_bpm=heart_rate_bpm,
        variability=float(chance.uniform(0.02, 0.05)) * (_CORONARY_VARIABILITY if weak else 1.0),
        breathing_hz=float(chance.uniform(0.20, 0.33)),
        premature_share=float(chance.uniform(0.06, 0.14)) if condition == "premature" else 0.0,
        anatomy=draw_anatomy(
            stream("anatomy", seed, index),
            j_amplitude=amplitude * (_CORONARY_AMPLITUDE if weak else 1.0),
            period_s=60.0 / heart_rate_bpm,
        ),
    )
