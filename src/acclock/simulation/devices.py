"""Earphones: how often they measure, how they bend what they feel, and how much they hiss."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from acclock.simulation.waves import ComplexArray, resonate
from acclock.values import FloatArray

Device = Literal["prototype", "airpods"]

_NOISE = 0.041
"""Standard deviation in m/s² at 100 samples a second (docs/decisions/0003)."""
_NOISE_RATE_HZ = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Earphone:
    """What a device does to the acceleration of the ear."""

    rate_hz: float
    resonance_hz: float
    """Of the housing on its cushion."""
    damping: float
    packet_samples: int
    """How many samples travel, and get lost, together."""

    def respond(self, frequencies_hz: FloatArray) -> ComplexArray:
        return resonate(frequencies_hz, resonance_hz=self.resonance_hz, damping=self.damping)

    def noise_at(self, rate_hz: float) -> float:
        """Give the standard deviation of the noise: its density is the same at every rate."""
        return _NOISE * float(np.sqrt(rate_hz / _NOISE_RATE_HZ))


EARPHONES: dict[Device, Earphone] = {
    "prototype": Earphone(rate_hz=100.0, resonance_hz=60.0, damping=0.7, packet_samples=6),
    "airpods": Earphone(rate_hz=25.0, resonance_hz=7.0, damping=0.7, packet_samples=1),
}
