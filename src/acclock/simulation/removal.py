"""Taking the earphone out: a hand, and then a table."""

import numpy as np

from acclock.simulation.scenes import Scene
from acclock.simulation.streams import band_noise
from acclock.values import STANDARD_GRAVITY, FloatArray

_LOOSENING_S = 0.15
_HANDLING_S = 2.0
_HANDLING = 4.0
"""Standard deviation in m/s² while a hand holds the earphone."""


def wear(scene: Scene, count: int, rate_hz: float) -> FloatArray:
    """Say at every sample how much of the head the earphone feels, from 1 to 0."""
    if scene.removed_at_s is None:
        return np.ones(count)
    since_s = np.arange(count) / rate_hz - scene.removed_at_s
    return np.clip(1.0 - since_s / _LOOSENING_S, 0.0, 1.0)


def handle(scene: Scene, gravity: FloatArray, chance: np.random.Generator) -> FloatArray:
    """Give gravity along the earphone's axes, and what the hand does when it is taken out.

    The earphone comes to rest on a table, turned in a way that chance decides.
    """
    count, rate_hz = scene.count, scene.sampling_hz
    if scene.removed_at_s is None:
        return np.repeat(gravity[:, None], count, axis=1)
    since = (np.arange(count) / rate_hz - scene.removed_at_s) / _HANDLING_S
    way = np.clip(since, 0.0, 1.0)
    turned = 0.5 - 0.5 * np.cos(np.pi * way)
    resting = chance.standard_normal(3)
    resting *= STANDARD_GRAVITY / np.linalg.norm(resting)
    held = np.sin(np.pi * way) * band_noise(chance, 3, count, rate_hz, (0.5, 8.0))
    return gravity[:, None] * (1.0 - turned) + resting[:, None] * turned + _HANDLING * held
