"""Chance, in streams that do not disturb one another."""

from zlib import crc32

import numpy as np

from acclock.errors import ConfigError
from acclock.values import FloatArray


def stream(*names: int | str) -> np.random.Generator:
    """Give the random numbers that belong to these names, the same ones every time.

    A new ingredient draws from a stream of its own name, so that the others stay what they were.

    >>> float(stream("noise", 7).random()) == float(stream("noise", 7).random())
    True
    """
    if any(isinstance(name, int) and name < 0 for name in names):
        raise ConfigError(f"seeds, indices and sessions start at zero; these are {names[1:]}")
    return np.random.default_rng(
        [crc32(name.encode()) if isinstance(name, str) else name for name in names]
    )


def band_noise(
    chance: np.random.Generator, rows: int, count: int, rate_hz: float, band_hz: tuple[float, float]
) -> FloatArray:
    """Draw rows of Gaussian noise of unit variance that lies softly between two frequencies.

    >>> noise = band_noise(stream("rumble"), 3, 1000, 100.0, (5.0, 15.0))
    >>> noise.shape, noise.std(axis=-1).round(6).tolist()
    ((3, 1000), [1.0, 1.0, 1.0])
    """
    low_hz, high_hz = band_hz
    frequencies = np.fft.rfftfreq(count, 1.0 / rate_hz)
    with np.errstate(divide="ignore"):
        gain = 1.0 / np.hypot(1.0, (low_hz / frequencies) ** 3)
    gain /= np.hypot(1.0, (frequencies / high_hz) ** 3)
    noise = np.fft.irfft(np.fft.rfft(chance.standard_normal((rows, count))) * gain, count)
    return np.asarray(noise / noise.std(axis=-1, keepdims=True))
