"""The waves that one heartbeat sends to the ear, and how what they pass through bends them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from acclock.errors import ConfigError
from acclock.values import FloatArray

ComplexArray = NDArray[np.complex128]
Response = Callable[[FloatArray], ComplexArray]
"""Frequencies in Hz in, complex gains out."""

_BLOCK = 1024
"""Transforms take a multiple of this, because prime lengths are slow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """One bell-shaped push: when it comes, how long it lasts, and how hard along each axis."""

    time_s: float
    """Relative to J."""
    width_s: float
    """Standard deviation of the bell."""
    sizes: tuple[float, float, float]
    """Peak acceleration in m/s²: upwards, forwards, and out of the left ear."""

    def __post_init__(self) -> None:
        if self.width_s <= 0:
            raise ConfigError(f"a wave has a positive width, not {self.width_s} s")


@dataclass(frozen=True, slots=True, eq=False)
class Waves:
    """The waves of one beat as arrays, so that many beats are summed at once."""

    times_s: FloatArray
    widths_s: FloatArray
    sizes: FloatArray
    """Shape ``(3, waves)``."""


def stack(waves: Sequence[Wave]) -> Waves:
    """Put single waves side by side."""
    return Waves(
        np.array([wave.time_s for wave in waves]),
        np.array([wave.width_s for wave in waves]),
        np.array([wave.sizes for wave in waves]).T,
    )


def draw_beat(waves: Waves, times_s: FloatArray) -> FloatArray:
    """Sum the waves of one beat at the given times: shape ``(3, times)``."""
    late = (times_s - waves.times_s[:, None]) / waves.widths_s[:, None]
    return np.einsum("aw,wt->at", waves.sizes, np.exp(-0.5 * late**2))


def resonate(frequencies_hz: FloatArray, *, resonance_hz: float, damping: float) -> ComplexArray:
    """Give the response of a mass on a damped spring whose foot is shaken.

    One below the resonance, stronger at it, weaker and late above it.

    >>> gain = np.abs(resonate(np.array([0.0, 10.0, 100.0]), resonance_hz=10.0, damping=0.5))
    >>> gain.round(2)
    array([1.  , 1.41, 0.1 ])
    """
    ratio = frequencies_hz / resonance_hz
    late = 2j * damping * ratio
    return np.asarray((1 + late) / (1 - ratio**2 + late), dtype=np.complex128)


def pass_through(signals: FloatArray, response: Response, rate_hz: float) -> FloatArray:
    """Filter the last axis by a response; a second of silence keeps its ends apart."""
    count = signals.shape[-1]
    size = -(-(count + int(rate_hz)) // _BLOCK) * _BLOCK
    gain = response(np.fft.rfftfreq(size, 1.0 / rate_hz).astype(np.float64))
    return np.fft.irfft(np.fft.rfft(signals, size) * gain, size)[..., :count]
