"""What a body does that tries to be still: it breathes, sways and never quite holds."""

from dataclasses import dataclass

import numpy as np

from acclock.simulation.people import Person
from acclock.simulation.scenes import Posture
from acclock.simulation.streams import band_noise
from acclock.values import STANDARD_GRAVITY, FloatArray

_BREATH = np.array([0.05, 0.06, 0.03])
"""Acceleration in m/s² along up, forward and outwards with every breath."""
_SWAY = 0.20
_SWAY_HZ = (0.4, 3.0)
_RESTLESS = 0.5
"""Spread of the logarithm of the sway: some moments are steadier than others."""
_RESTLESS_HZ = (0.02, 0.15)


@dataclass(frozen=True, slots=True)
class Stance:
    """How a posture holds the head."""

    leaning_deg: float
    """How far the head lies back."""
    sway: float
    """Factor on the unrest of somebody who sits."""


STANCES: dict[Posture, Stance] = {
    "sitting": Stance(leaning_deg=0.0, sway=1.0),
    "reclining": Stance(leaning_deg=45.0, sway=0.9),
    "lying": Stance(leaning_deg=90.0, sway=0.8),
    "standing": Stance(leaning_deg=0.0, sway=1.5),
}


def feel_gravity(posture: Posture) -> FloatArray:
    """Give what an accelerometer at rest reads along up, forward and out of the ear."""
    leaning = np.deg2rad(STANCES[posture].leaning_deg)
    return STANDARD_GRAVITY * np.array([np.cos(leaning), np.sin(leaning), 0.0])


def sway(
    person: Person, posture: Posture, chance: np.random.Generator, count: int, rate_hz: float
) -> FloatArray:
    """Give the acceleration of a head at rest: ``(3, count)``."""
    seconds = np.arange(count) / rate_hz
    breath = np.sin(2 * np.pi * (person.breathing_hz * seconds + chance.random()))
    moods = band_noise(chance, 1, count, rate_hz, _RESTLESS_HZ)
    restless = np.exp(_RESTLESS * moods - _RESTLESS**2)
    swaying = _SWAY * restless * band_noise(chance, 3, count, rate_hz, _SWAY_HZ)
    return _BREATH[:, None] * breath + STANCES[posture].sway * swaying
