"""How an earphone happens to sit in the ear this time."""

from dataclasses import dataclass

import numpy as np

from acclock.simulation.people import Person
from acclock.simulation.scenes import Scene
from acclock.simulation.streams import stream
from acclock.values import FloatArray

_GAIN_SPREAD = 0.10
_TURN_SPREAD_DEG = 5.0
_STIFFNESS_SPREAD = 0.05
_SOFTNESS_SPREAD = 0.12
_DELAY_SPREAD_S = 0.005
_STRENGTH_SPREAD = 0.05
"""Between one mounting and the next; factors by their logarithm."""

_WEEKLY_TURN_DEG = 0.6
_WEEKLY_DELAY_S = 0.0008
_WEEKLY_STRENGTH = 0.012
"""By which a person drifts, always in the same direction. Ours."""


@dataclass(frozen=True, slots=True, eq=False)
class Mounting:
    """What remounting changes at once, and weeks change slowly."""

    gain: float
    rotation: FloatArray
    """From the head (up, forward, out of the left ear) to the earphone: shape ``(3, 3)``."""
    stiffness: float
    """Factor on the resonance of the path: the contact."""
    softness: float
    """Factor on its damping."""
    delays_s: FloatArray
    """By which every wave comes later."""
    strengths: FloatArray
    """Factor on every wave along every axis: shape ``(3, waves)``."""


def mount(person: Person, scene: Scene) -> Mounting:
    """Give the mounting of this session: the same whenever person, device, ear and session are."""
    chance = stream("mounting", person.seed, person.index, scene.session, scene.device, scene.ear)
    drift = stream("ageing", person.seed, person.index)
    loose = person.anatomy.looseness
    waves = len(loose)
    tilt_deg = _TURN_SPREAD_DEG * chance.standard_normal(3)
    tilt_deg += scene.week * _WEEKLY_TURN_DEG * drift.standard_normal(3)
    delays_s = _DELAY_SPREAD_S * chance.standard_normal(waves)
    delays_s += scene.week * _WEEKLY_DELAY_S * drift.standard_normal(waves)
    strengths = _STRENGTH_SPREAD * chance.standard_normal((3, waves))
    strengths += scene.week * _WEEKLY_STRENGTH * drift.standard_normal((3, waves))
    mirror = np.diag([1.0, 1.0, 1.0 if scene.ear == "left" else -1.0])
    return Mounting(
        gain=float(np.exp(_GAIN_SPREAD * chance.standard_normal())),
        rotation=turn(np.array([0.0, 0.0, scene.angle_deg])) @ turn(tilt_deg) @ mirror,
        stiffness=float(np.exp(_STIFFNESS_SPREAD * chance.standard_normal())),
        softness=float(np.exp(_SOFTNESS_SPREAD * chance.standard_normal())),
        delays_s=loose * delays_s,
        strengths=1.0 + strengths,
    )


def turn(degrees: FloatArray) -> FloatArray:
    """Give the rotation about the axis along ``degrees``, by its length.

    >>> turn(np.array([0.0, 0.0, 90.0])).round(6) @ np.array([1.0, 0.0, 0.0])
    array([0., 1., 0.])
    """
    angle = np.deg2rad(np.linalg.norm(degrees))
    if angle == 0:
        return np.eye(3)
    x, y, z = np.deg2rad(degrees) / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)
