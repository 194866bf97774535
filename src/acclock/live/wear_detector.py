"""Whether the earphone is in the ear, shaken or lying still, by the motion of the last seconds."""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Sequence
from functools import cache
from math import inf, isnan
from typing import Literal, NamedTuple

import numpy as np

from acclock.acquisition.windows import MaskedRing, all_of
from acclock.denoising.kernels import roughness
from acclock.denoising.quality import SECOND_DIFFERENCE
from acclock.values import BoolArray, FloatArray

_SHARE = 0.25


class RunningQuantile:
    """The last so many values, kept in order: nothing is sorted anew for each of them.

    >>> usual = RunningQuantile(4)
    >>> for value in (9.0, 1.0, 2.0, 3.0, 4.0):
    ...     usual.add(value)
    >>> len(usual), usual.level
    (4, 2.0)
    """

    def __init__(self, remembered: int) -> None:
        self._remembered = remembered
        self._seen: deque[float] = deque()
        self._sorted: list[float] = []

    def __len__(self) -> int:
        return len(self._sorted)

    @property
    def level(self) -> float:
        return self._sorted[int(_SHARE * len(self._sorted))]

    def add(self, value: float) -> None:
        """Remember a value, and forget the oldest; what is no number was beyond measure."""
        known = inf if isnan(value) else value
        if len(self._seen) == self._remembered:
            del self._sorted[bisect_left(self._sorted, self._seen.popleft())]
        self._seen.append(known)
        insort(self._sorted, known)


FEATURES_S = 0.25
"""How often somebody looks, and how long a burst is."""
SPAN_S = 2.5
_SECOND_S = 1.0
_TURNED = np.cos(np.deg2rad(60.0))
_BAND_EDGE_HZ, _BAND_STOP_HZ = 42.0, 46.0
"""What the encoders read ends at 40 Hz; above the second nothing is left of it."""
_TAPS = 41
_LEAST_GRAVITY = 3.0
"""In m/s²: below, gravity was taken out of the signal and its direction means nothing."""


class MotionFeatures(NamedTuple):
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


def measure_motion(spans: Sequence[FloatArray]) -> list[MotionFeatures]:
    """Look at spans ``(3, n)`` of one rate, of one wearer or of many: each as if alone."""
    if not spans:
        return []
    together = np.stack(spans)
    second = round(together.shape[-1] * _SECOND_S / SPAN_S)
    burst = max(1, round(together.shape[-1] * FEATURES_S / SPAN_S))
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
    return [MotionFeatures(*row) for row in zip(*(one.tolist() for one in columns), strict=True)]


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


Sign = Literal["worn", "lively", "handled", "removed"]
"""``lively`` is motion on top of a heartbeat, ``handled`` as strong as that of a hand."""

_STILL_LOOKS = 3
_REMEMBERED = 1200
_FEWEST = 40
"""Looks, four a second: what is usual is learned from ten seconds up to the last five minutes."""
_HANDLED = 4.0
"""RMS in m/s² over a second, all axes: hands begin there, and so do leaps. Heads of people who sit
stay below, people who walk nearly always (docs/session.md)."""
_LIVELY = 3.0
_JERKY = 1.75
_STILL = 0.4
"""Against what is usual in this wearing: livelier, jerkier, and stiller than any heart."""
_BARE = 1.6
"""Against the noise of the sensor: on a table there is nothing else."""
_STARTLED = 5.0
"""Against what is usual: a burst that a quiet heart hardly ever reaches, and a hand at once."""
_SUDDEN = 1.5
"""Against the strongest burst of the two seconds before: motion that goes on startles nobody."""
_UNSETTLED_S = 2.0
"""So long after a start it is not known whether that was a hand; then it is."""


class WearDetector:
    """Even samples in, one sign every quarter of a second out.

    Knows nothing of people: only how strong the motion is, against what was usual since the
    wearing began and against the sensor's own noise. Memory is bounded.
    """

    def __init__(self, rate_hz: float) -> None:
        span, step = round(SPAN_S * rate_hz), max(1, round(FEATURES_S * rate_hz))
        self._ring = MaskedRing(length=span, step=step)
        self._levels, self._jerks = RunningQuantile(_REMEMBERED), RunningQuantile(_REMEMBERED)
        self._in_band = RunningQuantile(_REMEMBERED)
        self._bursts: deque[float] = deque(maxlen=10)
        self._still_looks = 0
        self._calm_s, self._settled_s = 0.0, inf

    def push(self, samples: FloatArray, received: BoolArray) -> list[Sign]:
        """Take samples ``(3, n)`` and which of them arrived; give the signs, oldest first."""
        return self.detect(measure_motion(self.gather(samples, received)))

    def gather(self, samples: FloatArray, received: BoolArray) -> list[FloatArray]:
        """Take samples and give the spans that they complete: those of many are looked at once."""
        return [
            span if arrived is all_of(arrived.shape) else bridge(span, arrived)
            for span, arrived in self._ring.push(samples, received)
            if arrived.any()
        ]

    def detect(self, features: Iterable[MotionFeatures]) -> list[Sign]:
        """Say what the spans that were gathered show, oldest first."""
        return [self._classify(features) for features in features]

    @property
    def calm_s(self) -> float:
        """For how long nothing has been livelier than usual."""
        return self._calm_s

    @property
    def unsettled(self) -> bool:
        """Whether something has just begun that may turn out to be a hand."""
        return self._settled_s < _UNSETTLED_S

    def _classify(self, features: MotionFeatures) -> Sign:
        sign = self._name(features)
        self._calm_s = 0.0 if sign in ("lively", "handled") else self._calm_s + FEATURES_S
        startled = sign == "handled" or self._is_startled(features)
        self._settled_s = 0.0 if startled else self._settled_s + FEATURES_S
        self._bursts.append(features.burst)
        if not self._still_looks:  # a table shall not become what is usual
            self._levels.add(features.level)
            self._jerks.add(features.jerk)
            self._in_band.add(features.in_band)
        return sign

    def _name(self, features: MotionFeatures) -> Sign:
        if features.level > _HANDLED or features.turned:
            return "handled"
        if len(self._levels) < _FEWEST:
            return "worn"
        still = (
            features.level < _STILL * self._levels.level and features.level < _BARE * features.noise
        )
        self._still_looks = self._still_looks + 1 if still else 0
        if self._still_looks >= _STILL_LOOKS:
            return "removed"
        strong = features.in_band > _LIVELY * self._in_band.level
        lively = strong or features.jerk > _JERKY * self._jerks.level
        return "lively" if lively else "worn"

    def _is_startled(self, features: MotionFeatures) -> bool:
        if len(self._levels) < _FEWEST:
            return False
        before = list(self._bursts)[:-2]  # a start takes longer than one look
        return features.burst > max(_STARTLED * self._levels.level, _SUDDEN * max(before))
