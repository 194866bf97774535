"""Whether the earphone is in the ear, shaken or lying still: told by the last second or two."""

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from acclock.acquisition.windows import Ring
from acclock.denoising.shrinkage import find_median_magnitudes
from acclock.values import BoolArray, FloatArray

Sign = Literal["worn", "lively", "handled", "removed"]
"""``lively`` is motion on top of a heartbeat, ``handled`` as strong as that of a hand."""

_LOOK_S = 0.25
_SPAN_S = 2.5
_SECOND_S = 1.0
_STILL_LOOKS = 3
_REMEMBERED = 1200
_FEWEST = 40
"""Looks, four a second: what is usual is learned from ten seconds up to the last five minutes."""
_USUAL = 0.25
"""The share of looks that are calmer than what counts as usual."""
_HANDLED = 4.0
"""RMS in m/s² over a second, all axes: hands begin there, and so do leaps. Heads of people who sit
stay below, people who walk nearly always (docs/session.md)."""
_TURNED = np.cos(np.deg2rad(60.0))
_LEAST_GRAVITY = 3.0
"""In m/s²: below, gravity was taken out of the signal and its direction means nothing."""
_LIVELY = 3.0
_JERKY = 1.75
_STILL = 0.4
"""Against what is usual in this wearing: livelier, jerkier, and stiller than any heart."""
_BARE = 1.6
"""Against the noise of the sensor: on a table there is nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    level: float
    jerk: float
    noise: float
    turned: bool


class Watch:
    """Even samples in, one sign every quarter of a second out.

    Knows nothing of people: only how strong the motion is, against what was usual since the
    wearing began and against the sensor's own noise. Memory is bounded.
    """

    def __init__(self, rate_hz: float) -> None:
        span, look = round(_SPAN_S * rate_hz), max(1, round(_LOOK_S * rate_hz))
        self._second = round(_SECOND_S * rate_hz)
        self._samples: Ring[np.float64] = Ring(length=span, step=look)
        self._received: Ring[np.bool_] = Ring(length=span, step=look)
        self._seen = np.empty((2, 0))
        self._still_looks = 0
        self._calm_s = 0.0

    def push(self, samples: FloatArray, received: BoolArray) -> list[Sign]:
        """Take samples ``(3, n)`` and which of them arrived; give the signs, oldest first."""
        spans = zip(self._samples.push(samples), self._received.push(received), strict=True)
        return [self._tell(_bridge(span, arrived)) for span, arrived in spans if arrived.any()]

    @property
    def calm_s(self) -> float:
        """For how long nothing has been livelier than usual."""
        return self._calm_s

    def _tell(self, span: FloatArray) -> Sign:
        look = _look(span, self._second)
        sign = self._name(look)
        moving = sign in ("lively", "handled")
        self._calm_s = 0.0 if moving else self._calm_s + _LOOK_S
        if not self._still_looks:  # a table shall not become what is usual
            self._seen = np.column_stack(
                [self._seen[:, 1 - _REMEMBERED :], [look.level, look.jerk]]
            )
        return sign

    def _name(self, look: _Look) -> Sign:
        if look.level > _HANDLED or look.turned:
            return "handled"
        if self._seen.shape[1] < _FEWEST:
            return "worn"
        rank = int(_USUAL * self._seen.shape[1])
        level, jerk = np.partition(self._seen, rank, axis=1)[:, rank]
        still = look.level < _STILL * level and look.level < _BARE * look.noise
        self._still_looks = self._still_looks + 1 if still else 0
        if self._still_looks >= _STILL_LOOKS:
            return "removed"
        lively = look.level > _LIVELY * level or look.jerk > _JERKY * jerk
        return "lively" if lively else "worn"


def _look(span: FloatArray, second: int) -> _Look:
    last, first = span[:, -second:], span[:, :second]
    moving = last - last.mean(axis=1, keepdims=True)
    noise = find_median_magnitudes(np.diff(span, n=2)) / (0.6745 * sqrt(6.0))
    return _Look(
        level=_rms(moving),
        jerk=_rms(np.diff(last)),
        noise=float(np.sqrt(np.square(noise).sum())),
        turned=_has_turned(first.mean(axis=1), last.mean(axis=1)),
    )


def _rms(axes: FloatArray) -> float:
    return float(np.sqrt(np.square(axes).sum(axis=0).mean()))


def _has_turned(before: FloatArray, after: FloatArray) -> bool:
    lengths = np.linalg.norm(before), np.linalg.norm(after)
    if min(lengths) < _LEAST_GRAVITY:
        return False
    return bool(before @ after < _TURNED * lengths[0] * lengths[1])


def _bridge(span: FloatArray, received: BoolArray) -> FloatArray:
    """Draw lines over what is missing, which is motion neither of a head nor of a hand."""
    if received.all():
        return span
    heard = np.flatnonzero(received)
    return np.stack([np.interp(np.arange(span.shape[1]), heard, axis[heard]) for axis in span])
