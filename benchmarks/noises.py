"""What shakes an earphone that nobody wears: noises by name, each stream from its own seed."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from acclock.values import FloatArray

RATE_HZ = 100
_GRAVITY = 9.81
Chance = np.random.Generator


def make_noise(kind: str, chance: Chance, *, seconds: int) -> FloatArray:
    """Give three axes, as strong as hearts are in ears and on chests, with gravity."""
    axes = NOISES[kind](chance, seconds * RATE_HZ)
    axes *= np.exp(chance.uniform(np.log(0.03), np.log(0.5))) / axes.std()
    axes[2] += _GRAVITY
    return np.asarray(axes)


def _colored(power: float) -> Callable[[Chance, int], FloatArray]:
    """Give three axes of noise whose power falls with the frequency to this power."""

    def make(chance: Chance, count: int) -> FloatArray:
        spectrum = np.fft.rfft(chance.standard_normal((3, count)))
        frequencies = np.maximum(np.fft.rfftfreq(count, 1.0 / RATE_HZ), 0.1)
        return np.asarray(np.fft.irfft(spectrum / frequencies ** (power / 2.0), count))

    return make


def _tones(chance: Chance, count: int) -> FloatArray:
    times = np.arange(count) / RATE_HZ
    waves = [
        np.sin(2.0 * np.pi * (chance.uniform(1.0, 40.0) * times + chance.random()))
        for _ in range(3)
    ]
    return _play(chance, np.sum(waves, axis=0))


def _drums(chance: Chance, count: int) -> FloatArray:
    """Loop over eight steps, some of them struck; every stroke rings down."""
    step_s = 30.0 / chance.uniform(60.0, 140.0)
    struck = np.flatnonzero(chance.random(8) < 0.5)
    struck = struck if struck.size else np.array([0])
    strokes = np.zeros(count)
    for start in np.arange(0.0, count / RATE_HZ, 8.0 * step_s):
        places = ((start + struck * step_s) * RATE_HZ).astype(int)
        strokes[places[places < count]] = 1.0
    times = np.arange(40) / RATE_HZ
    ring = np.exp(-times / 0.08) * np.sin(2.0 * np.pi * chance.uniform(6.0, 30.0) * times)
    return _play(chance, np.convolve(strokes, ring)[:count])


def _shaker(chance: Chance, count: int) -> FloatArray:
    """Turn a motor at the rate of a heart, with the harmonics of its slack."""
    phase = 2.0 * np.pi * chance.uniform(0.9, 1.6) * np.arange(count) / RATE_HZ
    waves = [
        chance.random() * np.sin(n * phase + 2.0 * np.pi * chance.random()) for n in range(1, 9)
    ]
    return _play(chance, np.sum(waves, axis=0))


def _play(chance: Chance, wave: FloatArray) -> FloatArray:
    """Move three axes by one actuator, to and fro along a line, with the noise of a sensor."""
    line = chance.standard_normal((3, 1))
    axes = line / np.linalg.norm(line) * wave / wave.std()
    return np.asarray(axes + 0.05 * chance.standard_normal((3, wave.size)))


NOISES: Mapping[str, Callable[[Chance, int], FloatArray]] = MappingProxyType(
    {
        "white": _colored(0.0),
        "pink": _colored(1.0),
        "brown": _colored(2.0),
        "tones": _tones,
        "drum loops": _drums,
        "a shaker at heart rate": _shaker,
    }
)
