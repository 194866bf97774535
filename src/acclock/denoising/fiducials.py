"""The deflections H to N of an average beat."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from acclock.denoising.bandpass import bandpass
from acclock.denoising.beats import AverageBeat
from acclock.errors import SignalError
from acclock.values import FloatArray

FiducialName = Literal["H", "I", "J", "K", "L", "M", "N"]
_BEFORE: tuple[FiducialName, ...] = ("I", "H")
_AFTER: tuple[FiducialName, ...] = ("K", "L", "M", "N")
"""In the order in which they are met on the way from J."""

_SMOOTH_HZ = (0.1, 20.0)
"""Turns are looked for in this band: above it a beat of four averaged is as much noise."""
_LEAST_SWING = 0.15
"""How far the beat must swing back behind a turn, as a share of J, for it to be one."""
_LONGEST_GAP_S = 0.13
"""Two neighboring deflections are no farther apart than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fiducial:
    """Where the beat turns, and how far out."""

    offset_ms: float
    """Time after J; negative before it."""
    amplitude: float
    """Value of the average beat there, in its unit."""


@dataclass(frozen=True, slots=True, eq=False)
class Fiducials:
    """The deflections of one beat by name; one that is not there is ``None``."""

    points: Mapping[FiducialName, Fiducial | None]
    """H, I, J, K, L, M, N, in this order."""

    def interval_ms(self, name: FiducialName) -> float | None:
        """Give the time between J and a deflection, without a sign; ``None`` where there is none.

        Paper: Sec. 2.3, Table 2 (J-H, J-I, J-L).
        """
        point = self.points[name]
        return None if point is None else abs(point.offset_ms)


def find_fiducials(beat: AverageBeat) -> Fiducials:
    """Walk from J to both sides and name the turns of the beat as they come.

    A turn counts where the beat swings back behind it. Deflections alternate: I and K point
    against J, whichever way J points. Ours: docs/decisions/0005.

    >>> times_s = np.arange(-0.25, 0.45, 0.005)
    >>> ringing = -np.cos(2 * np.pi * 8 * times_s) * np.exp(-np.abs(times_s) / 0.1)
    >>> found = find_fiducials(AverageBeat(times_s, ringing, 1, 1.0))
    >>> [round(point.offset_ms, -1) for point in found.points.values() if point]
    [-120.0, -60.0, 0.0, 60.0, 120.0, 180.0]
    """
    step_s = float(beat.times_s[1] - beat.times_s[0])
    low_hz, high_hz = _SMOOTH_HZ
    smooth = bandpass(beat.waveform, rate_hz=1.0 / step_s, low_hz=low_hz, high_hz=high_hz)
    start = _climb(np.abs(smooth), int(np.abs(beat.times_s).argmin()))
    if smooth[start] == 0:
        raise SignalError("a flat beat has no deflections")
    upright = smooth / smooth[start]
    farthest = round(_LONGEST_GAP_S / step_s)
    before = [start - steps for steps in _walk(upright[start::-1], farthest)]
    after = [start + steps for steps in _walk(upright[start:], farthest)]
    places: dict[FiducialName, int] = {"J": start}
    places |= zip(_BEFORE, before, strict=False)
    places |= zip(_AFTER, after, strict=False)
    origin = _vertex(smooth, start)
    points = {
        name: Fiducial(
            offset_ms=1e3 * step_s * (_vertex(smooth, place) - origin),
            amplitude=float(beat.waveform[place]),
        )
        for name, place in places.items()
    }
    return Fiducials(MappingProxyType({name: points.get(name) for name in get_args(FiducialName)}))


def _climb(heights: FloatArray, start: int) -> int:
    """Go uphill to the nearest peak."""
    while (step := int(heights[max(start - 1, 0) : start + 2].argmax()) - (start > 0)) != 0:
        start += step
    return start


def _walk(outwards: FloatArray, farthest: int) -> list[int]:
    """Give the steps from a peak of height 1 to the turns behind it, as long as there are any."""
    turns, sign = [0], 1.0
    while True:
        ahead = sign * outwards[turns[-1] :]
        risen = np.flatnonzero(ahead - np.minimum.accumulate(ahead) > _LEAST_SWING)
        if not len(risen) or (steps := int(ahead[: risen[0]].argmin())) > farthest:
            return turns[1:]
        turns.append(turns[-1] + steps)
        sign = -sign


def _vertex(signal: FloatArray, place: int) -> float:
    """Place a turn where the parabola through it and its neighbors turns."""
    if not 0 < place < len(signal) - 1:
        return float(place)
    left, top, right = signal[place - 1 : place + 2]
    bend = left - 2 * top + right
    return place + float((left - right) / (2 * bend)) if bend else float(place)
