"""How heads move: blinking, shaking, talking, walking, running."""

from collections.abc import Callable

import numpy as np

from acclock.simulation.scenes import Movement
from acclock.simulation.streams import band_noise
from acclock.values import FloatArray

Motion = Callable[[np.random.Generator, int, float], FloatArray]
"""Chance, number of samples and rate in, acceleration in m/s² of the head's three axes out."""


def stay(_chance: np.random.Generator, count: int, _rate_hz: float) -> FloatArray:
    """Do not move."""
    return np.zeros((3, count))


def blink(chance: np.random.Generator, count: int, rate_hz: float) -> FloatArray:
    """Blink every other second: small bumps, up, down and back within a quarter of a second."""
    seconds = np.arange(round(0.30 * rate_hz)) / rate_hz
    bump = np.sin(2 * np.pi * seconds / 0.15) * np.sin(np.pi * seconds / 0.30) ** 2
    strength = np.array([0.14, 0.20, 0.08])
    return scatter(chance, count, bump, share=0.5 / rate_hz) * strength[:, None]


def shake_head(chance: np.random.Generator, count: int, rate_hz: float) -> FloatArray:
    """Say no for some seconds, now and then: swings of the ear, 1 to 3 a second."""
    mean_hz = chance.uniform(1.3, 2.5)
    pace_hz = mean_hz + 0.25 * band_noise(chance, 1, count, rate_hz, (0.05, 0.3))[0]
    phase = 2 * np.pi * np.cumsum(np.clip(pace_hz, 1.0, 3.0)) / rate_hz
    swing = 3.0 * spells(chance, count, rate_hz, on_s=2.5, off_s=4.0)
    forward, outward = np.sin(phase), 0.35 * (np.cos(2 * phase) - 1.0)
    upward = 0.12 * np.sin(phase + chance.uniform(0.0, 2 * np.pi))
    return np.asarray(swing * np.stack([upward, forward, outward]))


def talk(chance: np.random.Generator, count: int, rate_hz: float) -> FloatArray:
    """Talk in phrases: the jaw at 3 to 8 Hz, the voice as bursts of 10 to 25 Hz."""
    phrases = spells(chance, count, rate_hz, on_s=3.0, off_s=1.0)
    syllables = np.abs(band_noise(chance, 1, count, rate_hz, (2.0, 6.0)))
    jaw = band_noise(chance, 3, count, rate_hz, (3.0, 8.0)) * np.array([[0.40], [0.25], [0.30]])
    voice = band_noise(chance, 3, count, rate_hz, (10.0, 25.0)) * np.array([[0.15], [0.12], [0.20]])
    return np.asarray(phrases * (jaw + voice * syllables))


def walk(chance: np.random.Generator, count: int, rate_hz: float) -> FloatArray:
    """Walk at about 1.8 steps a second."""
    return _step(chance, count, rate_hz, pace_hz=1.8, strength=1.6)


def run(chance: np.random.Generator, count: int, rate_hz: float) -> FloatArray:
    """Run at about 2.7 steps a second, several m/s² strong."""
    return _step(chance, count, rate_hz, pace_hz=2.7, strength=7.0)


MOTIONS: dict[Movement, Motion] = {
    "still": stay,
    "blink": blink,
    "head-shake": shake_head,
    "talk": talk,
    "walk": walk,
    "run": run,
}


def scatter(
    chance: np.random.Generator, count: int, kernel: FloatArray, *, share: float
) -> FloatArray:
    """Drop a kernel at chance moments of all three axes, each time of another size and sign."""
    struck = chance.random(count) < share
    blows = struck * chance.choice([-1.0, 1.0], (3, count)) * chance.uniform(0.5, 1.5, (3, count))
    return np.stack([np.convolve(row, kernel)[:count] for row in blows])


def spells(
    chance: np.random.Generator, count: int, rate_hz: float, *, on_s: float, off_s: float
) -> FloatArray:
    """Give a soft switch between 0 and 1 that stays on and off for chance whiles."""
    turns = int(count / rate_hz / (on_s + off_s) * 2) + 4
    lengths_s = chance.uniform(0.5, 1.5, (turns, 2)) * (off_s, on_s)
    edges = np.cumsum(lengths_s.ravel()) - chance.uniform(0.0, off_s)
    on = np.searchsorted(edges, np.arange(count) / rate_hz) % 2 == 1
    softener = np.hanning(max(3, round(0.4 * rate_hz)))
    return np.convolve(on, softener / softener.sum(), mode="same")[:count]


def _step(
    chance: np.random.Generator, count: int, rate_hz: float, *, pace_hz: float, strength: float
) -> FloatArray:
    """Sum the harmonics of a step, upwards and forwards, and of a stride, sideways."""
    unsteady = 1.0 + 0.03 * band_noise(chance, 1, count, rate_hz, (0.05, 0.5))[0]
    steps = np.cumsum(pace_hz * chance.uniform(0.95, 1.05) * unsteady) / rate_hz
    order = np.arange(1, 8)
    sizes = np.array([[1.0], [0.45], [0.40]]) * order**-1.2 * chance.uniform(0.7, 1.3, (3, 7))
    paces = np.array([[1.0], [1.0], [0.5]])
    phases = chance.random((3, 7))
    motion = np.zeros((3, count))
    for axis in range(3):
        for harmonic in range(7):
            turns = paces[axis] * order[harmonic] * steps + phases[axis, harmonic]
            motion[axis] += sizes[axis, harmonic] * np.sin(2 * np.pi * turns)
    effort = 1.0 + 0.1 * band_noise(chance, 1, count, rate_hz, (0.1, 1.0))
    return np.asarray(strength * effort * motion)
