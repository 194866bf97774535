"""Whether the earphone is in the ear, shaken or lying still: told by the last second or two."""

from collections import deque
from collections.abc import Iterable
from math import inf
from typing import Literal

from acclock.acquisition.windows import Reel, all_of
from acclock.session.looks import LOOK_S, SPAN_S, Look, bridge, look_at
from acclock.session.usual import Usual
from acclock.values import BoolArray, FloatArray

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


class Watch:
    """Even samples in, one sign every quarter of a second out.

    Knows nothing of people: only how strong the motion is, against what was usual since the
    wearing began and against the sensor's own noise. Memory is bounded.
    """

    def __init__(self, rate_hz: float) -> None:
        span, step = round(SPAN_S * rate_hz), max(1, round(LOOK_S * rate_hz))
        self._reel = Reel(length=span, step=step)
        self._levels, self._jerks = Usual(_REMEMBERED), Usual(_REMEMBERED)
        self._in_band = Usual(_REMEMBERED)
        self._bursts: deque[float] = deque(maxlen=10)
        self._still_looks = 0
        self._calm_s, self._settled_s = 0.0, inf

    def push(self, samples: FloatArray, received: BoolArray) -> list[Sign]:
        """Take samples ``(3, n)`` and which of them arrived; give the signs, oldest first."""
        return self.tell(look_at(self.gather(samples, received)))

    def gather(self, samples: FloatArray, received: BoolArray) -> list[FloatArray]:
        """Take samples and give the spans that they complete: those of many are looked at once."""
        return [
            span if arrived is all_of(arrived.shape) else bridge(span, arrived)
            for span, arrived in self._reel.push(samples, received)
            if arrived.any()
        ]

    def tell(self, looks: Iterable[Look]) -> list[Sign]:
        """Say what the spans that were gathered show, oldest first."""
        return [self._tell(look) for look in looks]

    @property
    def calm_s(self) -> float:
        """For how long nothing has been livelier than usual."""
        return self._calm_s

    @property
    def unsettled(self) -> bool:
        """Whether something has just begun that may turn out to be a hand."""
        return self._settled_s < _UNSETTLED_S

    def _tell(self, look: Look) -> Sign:
        sign = self._name(look)
        self._calm_s = 0.0 if sign in ("lively", "handled") else self._calm_s + LOOK_S
        startled = sign == "handled" or self._is_startled(look)
        self._settled_s = 0.0 if startled else self._settled_s + LOOK_S
        self._bursts.append(look.burst)
        if not self._still_looks:  # a table shall not become what is usual
            self._levels.add(look.level)
            self._jerks.add(look.jerk)
            self._in_band.add(look.in_band)
        return sign

    def _name(self, look: Look) -> Sign:
        if look.level > _HANDLED or look.turned:
            return "handled"
        if len(self._levels) < _FEWEST:
            return "worn"
        still = look.level < _STILL * self._levels.level and look.level < _BARE * look.noise
        self._still_looks = self._still_looks + 1 if still else 0
        if self._still_looks >= _STILL_LOOKS:
            return "removed"
        strong = look.in_band > _LIVELY * self._in_band.level
        lively = strong or look.jerk > _JERKY * self._jerks.level
        return "lively" if lively else "worn"

    def _is_startled(self, look: Look) -> bool:
        if len(self._levels) < _FEWEST:
            return False
        before = list(self._bursts)[:-2]  # a start takes longer than one look
        return look.burst > max(_STARTLED * self._levels.level, _SUDDEN * max(before))
