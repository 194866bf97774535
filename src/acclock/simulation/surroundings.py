"""What reaches the earphone from elsewhere: its own speaker, a station, a playground."""

import numpy as np

from acclock.simulation.movements import scatter, spells
from acclock.simulation.scenes import Environment, Music
from acclock.simulation.streams import band_noise
from acclock.values import FloatArray

_VOLUMES: dict[Music, float] = {"off": 0.0, "low": 0.03, "medium": 0.07, "high": 0.15}
"""Standard deviation in m/s² of the shaking by the speaker."""


def play_music(music: Music, chance: np.random.Generator, count: int, rate_hz: float) -> FloatArray:
    """Shake the earphone by its speaker: bass drums near the heart's band, the rest above it."""
    beat_hz = chance.uniform(1.6, 2.3)
    since_beat_s = (np.arange(count) / rate_hz + chance.random()) % (1.0 / beat_hz)
    drums = np.exp(-since_beat_s / 0.06) * np.sin(2 * np.pi * 17.0 * since_beat_s)
    melody = band_noise(chance, 3, count, rate_hz, (22.0, 45.0))
    return _VOLUMES[music] * (melody + np.array([[0.8], [0.5], [1.5]]) * drums)


def stand_in(
    environment: Environment, chance: np.random.Generator, count: int, rate_hz: float
) -> FloatArray:
    """Shake the ground: trains rumble past in a station, balls drop in a playground."""
    if environment == "station":
        passing = 0.2 + spells(chance, count, rate_hz, on_s=12.0, off_s=15.0)
        rumble = 0.06 * band_noise(chance, 3, count, rate_hz, (5.0, 15.0))
        return np.asarray(passing * rumble)
    if environment == "playground":
        seconds = np.arange(round(0.5 * rate_hz)) / rate_hz
        thud = np.exp(-seconds / 0.07) * np.sin(2 * np.pi * 11.0 * seconds)
        blows = scatter(chance, count, thud, share=0.9 / rate_hz)
        return blows * np.array([[0.35], [0.12], [0.12]])
    return np.zeros((3, count))
