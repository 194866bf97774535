"""Whether the earphone is in the ear, shaken or lying still: told by the last second or two."""

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np

from acclock.acquisition.windows import Ring
from acclock.denoising.shrinkage import find_median_magnitudes
from acclock.session.usual import Usual
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


class Look(NamedTuple):
    """What the last seconds looked like."""

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
        self._samples: Ring[np.float64] = Ring(length=span, step=look)
        self._received: Ring[np.bool_] = Ring(length=span, step=look)
        self._levels, self._jerks = Usual(_REMEMBERED), Usual(_REMEMBERED)
        self._still_looks = 0
        self._calm_s = 0.0

    def push(self, samples: FloatArray, received: BoolArray) -> list[Sign]:
        """Take samples ``(3, n)`` and which of them arrived; give the signs, oldest first."""
        return self.tell(look_at(self.gather(samples, received)))

    def gather(self, samples: FloatArray, received: BoolArray) -> list[FloatArray]:
        """Take samples and give the spans that they complete: those of many are looked at once."""
        spans = zip(self._samples.push(samples), self._received.push(received), strict=True)
        return [_bridge(span, arrived) for span, arrived in spans if arrived.any()]

    def tell(self, looks: Iterable[Look]) -> list[Sign]:
        """Say what the spans that were gathered show, oldest first."""
        return [self._tell(look) for look in looks]

    @property
    def calm_s(self) -> float:
        """For how long nothing has been livelier than usual."""
        return self._calm_s

    def _tell(self, look: Look) -> Sign:
        sign = self._name(look)
        moving = sign in ("lively", "handled")
        self._calm_s = 0.0 if moving else self._calm_s + _LOOK_S
        if not self._still_looks:  # a table shall not become what is usual
            self._levels.add(look.level)
            self._jerks.add(look.jerk)
        return sign

    def _name(self, look: Look) -> Sign:
        if look.level > _HANDLED or look.turned:
            return "handled"
        if len(self._levels) < _FEWEST:
            return "worn"
        level, jerk = self._levels.level, self._jerks.level
        still = look.level < _STILL * level and look.level < _BARE * look.noise
        self._still_looks = self._still_looks + 1 if still else 0
        if self._still_looks >= _STILL_LOOKS:
            return "removed"
        lively = look.level > _LIVELY * level or look.jerk > _JERKY * jerk
        return "lively" if lively else "worn"


def look_at(spans: Sequence[FloatArray]) -> list[Look]:
    """Look at spans ``(3, n)`` of one rate, of one wearer or of many: each as if alone."""
    if not spans:
        return []
    together = np.stack(spans)
    second = round(together.shape[-1] * _SECOND_S / _SPAN_S)
    last, first = together[..., -second:], together[..., :second]
    after = last.mean(axis=-1)
    noise = find_median_magnitudes(np.diff(together, n=2)) / (0.6745 * sqrt(6.0))
    columns = (
        _rms(last - after[..., np.newaxis]),
        _rms(np.diff(last)),
        np.sqrt(np.square(noise).sum(axis=-1)),
        _have_turned(first.mean(axis=-1), after),
    )
    return [Look(*row) for row in zip(*(one.tolist() for one in columns), strict=True)]


def _rms(axes: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("wan,wan->w", axes, axes) / axes.shape[-1]))


def _have_turned(before: FloatArray, after: FloatArray) -> BoolArray:
    lengths = np.linalg.norm(before, axis=-1), np.linalg.norm(after, axis=-1)
    heavy = np.minimum(*lengths) >= _LEAST_GRAVITY
    turned = np.einsum("wa,wa->w", before, after) < _TURNED * lengths[0] * lengths[1]
    return np.asarray(heavy & turned)


def _bridge(span: FloatArray, received: BoolArray) -> FloatArray:
    """Draw lines over what is missing, which is motion neither of a head nor of a hand."""
    if received.all():
        return span
    heard = np.flatnonzero(received)
    return np.stack([np.interp(np.arange(span.shape[1]), heard, axis[heard]) for axis in span])
