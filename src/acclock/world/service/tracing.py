"""The samples of a stream for the eye: one axis, before and after the preparation."""

from collections.abc import Sequence

import numpy as np

from acclock.pipeline import PreparedWindow
from acclock.values import FloatArray
from acclock.world.service.listeners import Message

_LIVELIER = 4.0
"""Another axis is shown only when it has so many times the power of the one that is."""
_FOLLOWED_S = 2.0
"""Over which it is learned how lively the axes are, and where they rest."""


class Tracing:
    """Gathers samples until the window is prepared that they end, so that both lie side by side.

    Every sample is told once and in order, however short the parts are in which they come.
    """

    def __init__(self, rate_hz: float) -> None:
        self._rate_hz = rate_hz
        self._axis = 0
        self._powers: FloatArray | None = None
        self._rest = np.zeros(3)
        self._raw = np.empty(0)
        self._wearing, self._count, self._prepared = 0, 0, False
        self._stale = 0
        """How many of the samples that wait are of a wearing that has ended."""

    def hear(self, samples: FloatArray, wearing: int, *, seen: bool) -> None:
        """Take even samples ``(3, n)``, before they are prepared; keep them if anybody looks."""
        if wearing != self._wearing:
            self._wearing, self._count, self._prepared = wearing, 0, False
            self._stale = self._raw.size
        self._count += samples.shape[1]
        if seen:
            self._raw = np.concatenate([self._raw, self._look(samples)])
        else:
            self._raw, self._stale = np.empty(0), 0

    def show(self, windows: Sequence[PreparedWindow]) -> Message | None:
        """Give what is new, with the windows that the last samples completed, if any."""
        if self._prepared and not windows:
            return None  # they will be told with their window
        ahead = self._count - round(windows[-1].end_s * self._rate_hz) if windows else 0
        size = self._raw.size - ahead
        self._prepared = bool(windows)
        if size <= 0:
            return None
        told, self._raw = self._raw[:size], self._raw[size:]
        known = size - min(self._stale, size)
        self._stale -= size - known
        clean = None
        if windows:
            newest = windows[-1].samples[self._axis, -known:] if known else np.empty(0)
            clean = [None] * (size - newest.size) + newest.round(4).tolist()
        return {
            "type": "trace",
            "rate_hz": self._rate_hz,
            "raw": told.round(4).tolist(),
            "clean": clean,
        }

    def _look(self, samples: FloatArray) -> FloatArray:
        """Give the liveliest axis around where it rests; it drifts there and does not jump."""
        means, powers = samples.mean(axis=1), samples.var(axis=1)
        if self._powers is None:
            self._powers, self._rest, self._axis = powers, means, int(powers.argmax())
        count = samples.shape[1]
        share = min(1.0, count / (_FOLLOWED_S * self._rate_hz))
        self._powers = self._powers + share * (powers - self._powers)
        if self._powers.max() > _LIVELIER * self._powers[self._axis]:
            self._axis = int(self._powers.argmax())
        before, self._rest = self._rest, self._rest + share * (means - self._rest)
        drift = np.linspace(before[self._axis], self._rest[self._axis], count, endpoint=False)
        return np.asarray(samples[self._axis] - drift)
