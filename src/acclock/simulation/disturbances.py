"""What disturbs: movements, breathing and sway, removal, music and surroundings."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from acclock.simulation.people import Person
from acclock.simulation.scenes import Environment, Movement, Music, Posture, Scene
from acclock.simulation.streams import band_noise
from acclock.values import STANDARD_GRAVITY, FloatArray

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
