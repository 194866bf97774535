"""When the heart beats, and how each beat differs from the last."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from acclock.simulation.people import Person
from acclock.simulation.scenes import Movement, Posture, Scene
from acclock.values import FloatArray

_EXERTION: dict[Movement, float] = {
    "still": 1.0,
    "blink": 1.0,
    "head-shake": 1.03,
    "talk": 1.05,
    "walk": 1.25,
    "run": 1.80,
}
_UPRIGHTNESS: dict[Posture, float] = {
    "sitting": 1.0,
    "reclining": 0.97,
    "lying": 0.94,
    "standing": 1.10,
}
"""Factors on the heart rate."""
_FASTEST_BPM = 175.0

_BREATH_STRENGTH = 0.12
_BEAT_STRENGTH = 0.25
_BEAT_DELAY_S = 0.005
_WANDER_S = 0.004
_WANDER_BEATS = 10
"""Waves of one beat vary by themselves, and wander together over some ten beats."""
_EARLY = (0.60, 0.78)
"""When a premature beat comes, as a share of the usual time."""


@dataclass(frozen=True, slots=True, eq=False)
class Rhythm:
    """Every beat of a scene, from before its start until after its end."""

    period_s: float
    """Mean time between beats."""
    times_s: FloatArray
    """When J comes."""
    delays_s: FloatArray
    """By which each wave of each beat is late: shape ``(beats, waves)``."""
    strengths: FloatArray
    """Factor on each wave of each beat, of the same shape."""


def beat(person: Person, scene: Scene, chance: np.random.Generator) -> Rhythm:
    """Let the heart beat: with the breath, with slow unrest, and with some beats too early."""
    pace = _EXERTION[scene.movement] * _UPRIGHTNESS[scene.posture]
    period_s = 60.0 / min(_FASTEST_BPM, person.heart_rate_bpm * pace)
    count = int(1.2 * scene.duration_s / period_s) + 8
    breath = _oscillate(chance, person.breathing_hz * period_s, count)
    slow = _oscillate(chance, 0.1 * period_s, count)
    unrest = (breath + 0.6 * slow + 0.8 * chance.standard_normal(count)) / 1.15
    intervals = 1.0 + person.variability * unrest
    early = _choose(person.premature_share, count, chance)
    intervals[early] *= chance.uniform(*_EARLY, len(early))
    intervals[early + 1] += 1.0 - intervals[early]
    haste = np.minimum(intervals, 1.0)
    times_s = period_s * (np.cumsum(intervals) - 2.0 - chance.random())
    loose = person.anatomy.looseness
    strengths = 1.0 + _BEAT_STRENGTH * chance.standard_normal((count, len(loose)))
    strengths *= ((1.0 + _BREATH_STRENGTH * breath) * haste)[:, None]
    delays_s = loose * _delay(chance, count, len(loose))
    kept = times_s < scene.duration_s + period_s
    return Rhythm(period_s, times_s[kept], delays_s[kept], strengths[kept])


def _oscillate(chance: np.random.Generator, turns_a_beat: float, count: int) -> FloatArray:
    return np.sin(2 * np.pi * (turns_a_beat * np.arange(count) + chance.random()))


def _choose(share: float, count: int, chance: np.random.Generator) -> NDArray[np.intp]:
    """Choose the premature beats; two never follow each other."""
    early = np.flatnonzero(chance.random(count - 1) < share)
    return early[np.diff(early, prepend=-2) > 1]


def _delay(chance: np.random.Generator, count: int, waves: int) -> FloatArray:
    memory = np.exp(-np.arange(4 * _WANDER_BEATS) / _WANDER_BEATS)
    memory /= np.sqrt((memory**2).sum())
    steps = chance.standard_normal((waves, count + len(memory) - 1))
    wander = np.stack([np.convolve(row, memory, mode="valid") for row in steps], axis=1)
    return _WANDER_S * wander + _BEAT_DELAY_S * chance.standard_normal((count, waves))
