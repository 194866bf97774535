"""What the last two and a half seconds of an earphone's motion look like."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from acclock.denoising.kernels import roughness
from acclock.denoising.liveliness import SECOND_DIFFERENCE
from acclock.values import BoolArray, FloatArray

LOOK_S = 0.25
"""How often somebody looks, and how long a burst is."""
SPAN_S = 2.5
_SECOND_S = 1.0
_TURNED = np.cos(np.deg2rad(60.0))
_BAND_EDGE_HZ, _BAND_STOP_HZ = 42.0, 46.0
"""What the encoders read ends at 40 Hz; above the second nothing is left of it."""
_TAPS = 41
_LEAST_GRAVITY = 3.0
"""In m/s²: below, gravity was taken out of the signal and its direction means nothing."""


class Look(NamedTuple):
    """How strong the motion is, in m/s² over all axes."""

    level: float
    """RMS over the last second."""
    burst: float
    """RMS of the last quarter of a second, from where the earphone lay in the second before."""
    in_band: float
    """RMS over the last second of what the encoder can hear of it."""
    jerk: float
    """RMS of the differences of the same."""
    noise: float
    """Of the sensor, told from second differences."""
    turned: bool
    """Whether gravity has turned by more than 60° within a second and a half."""


def look_at(spans: Sequence[FloatArray]) -> list[Look]:
    """Look at spans ``(3, n)`` of one rate, of one wearer or of many: each as if alone."""
    if not spans:
        return []
    together = np.stack(spans)
    second = round(together.shape[-1] * _SECOND_S / SPAN_S)
    burst = max(1, round(together.shape[-1] * LOOK_S / SPAN_S))
    last, first = together[..., -second:], together[..., :second]
    after = last.mean(axis=-1)
    before = together[..., -second - burst : -burst].mean(axis=-1)
    audible = _keep_band(together, second)
    noise = np.empty(together.shape[:-1])
    roughness(together, together.shape[-1], noise)
    columns = (
        _rms(last - after[..., np.newaxis]),
        _rms(together[..., -burst:] - before[..., np.newaxis]),
        _rms(audible - audible.mean(axis=-1, keepdims=True)),
        _rms(np.diff(audible)),
        np.sqrt(np.square(noise / SECOND_DIFFERENCE).sum(axis=-1)),
        _have_turned(first.mean(axis=-1), after),
    )
    return [Look(*row) for row in zip(*(one.tolist() for one in columns), strict=True)]


def bridge(span: FloatArray, received: BoolArray) -> FloatArray:
    """Draw lines over what is missing, which is motion neither of a head nor of a hand."""
    heard = np.flatnonzero(received)
    return np.stack([np.interp(np.arange(span.shape[1]), heard, axis[heard]) for axis in span])


def _keep_band(together: FloatArray, second: int) -> FloatArray:
    """Give the last second that a low-pass leaves of the spans; a slow sensor needs none.

    Motion above the band is heard by nobody who tells people apart, so it must not excuse anybody.
    """
    rate_hz = together.shape[-1] / SPAN_S
    if rate_hz / 2.0 <= _BAND_STOP_HZ:
        return together[..., -second:]
    return np.asarray(together[..., -second - _TAPS + 1 :] @ _low_pass(second, rate_hz))


@cache
def _low_pass(second: int, rate_hz: float) -> FloatArray:
    """Give the matrix of a windowed sinc: 50 dB down where the band ends."""
    times = np.arange(_TAPS) - (_TAPS - 1) / 2.0
    taps = np.sinc(2.0 * _BAND_EDGE_HZ / rate_hz * times) * np.kaiser(_TAPS, 5.0)
    matrix = np.zeros((second + _TAPS - 1, second))
    for column in range(second):
        matrix[column : column + _TAPS, column] = taps / taps.sum()
    return matrix


def _rms(axes: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("wan,wan->w", axes, axes) / axes.shape[-1]))


def _have_turned(before: FloatArray, after: FloatArray) -> BoolArray:
    lengths = np.linalg.norm(before, axis=-1), np.linalg.norm(after, axis=-1)
    heavy = np.minimum(*lengths) >= _LEAST_GRAVITY
    turned = np.einsum("wa,wa->w", before, after) < _TURNED * lengths[0] * lengths[1]
    return np.asarray(heavy & turned)
