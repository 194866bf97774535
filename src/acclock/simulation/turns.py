"""Where one clean beat turns, and whether its deflections can be told apart."""

import numpy as np
from numpy.typing import NDArray

from acclock.values import FloatArray

IndexArray = NDArray[np.intp]

CLOCK_HZ = 1000.0
CLOCK_S = np.arange(-0.5, 0.8, 1.0 / CLOCK_HZ)
"""The clock on which one clean beat is looked at; the wave that makes J comes at zero."""

H, J, L = 0, 2, 4
_SIGNS = (1, -1, 1, -1, 1, -1, 1)
_LATEST_J_S = 0.08
"""The path and the earphone delay J by less than this."""
_NEAR_J_S = 0.03
_NEIGHBORS_S = 0.06
"""How far I and K lie from J, about."""
_DOMINANCE = 2.2
"""How much more J stands out than any other turn."""
_LEAST_SWING = 0.55
"""From each of H, I, J, K, L to the next, as a share of J."""
_LEAST_FALL = 0.50
"""Before H and after L, as a share of J."""
_LONGEST_DETOUR = 1.05
"""How much longer the way from H to L is than its swings: more, and there are turns between."""
_FARTHEST_S = 0.02
"""How far the sum of the waves may move a turn from where its wave is."""


def find_turns(vertical: FloatArray, due_s: FloatArray) -> IndexArray:
    """Give the places on ``CLOCK_S`` at which H to N turn: the nearest to where they are due.

    J is the largest turn within 80 ms of its wave and may point up or down; the others alternate
    around it, and are as late as it is.
    """
    near = np.flatnonzero((CLOCK_S > -_NEAR_J_S) & (CLOCK_S < _LATEST_J_S))
    peak = near[np.abs(vertical[near]).argmax()]
    bends = np.diff(np.sign(np.diff(vertical * np.sign(vertical[peak]))))
    delay_s = CLOCK_S[peak] - due_s[J]
    return np.array(
        [
            _nearest(1 + np.flatnonzero(sign * bends < 0), due + delay_s)
            for sign, due in zip(_SIGNS, due_s, strict=True)
        ]
    )


def is_legible(vertical: FloatArray, due_s: FloatArray) -> bool:
    """Say whether J stands out of the beat, and H, I, K and L around it can be told apart."""
    turns = find_turns(vertical, due_s)
    upright = vertical / vertical[turns[J]]
    named = turns[H : L + 1]
    swings = np.abs(np.diff(upright[named]))
    way = np.abs(np.diff(upright[named[0] : named[-1] + 1])).sum()
    moved_s = CLOCK_S[named] - due_s[H : L + 1]
    return bool(
        swings.min() >= _LEAST_SWING
        and way <= _LONGEST_DETOUR * swings.sum()
        and np.ptp(moved_s) <= 2 * _FARTHEST_S
        and _falls(upright[named[0] :: -1])
        and _falls(upright[named[-1] :])
        and stands_out(vertical, due_s, by=_DOMINANCE)
    )


def stands_out(vertical: FloatArray, due_s: FloatArray, *, by: float) -> bool:
    """Say whether J is larger than all else, and farther from its neighbors by some factor."""
    peak = find_turns(vertical, due_s)[J]
    upright = vertical / vertical[peak]
    apart = round(_NEIGHBORS_S * CLOCK_HZ)
    around = (np.roll(upright, apart) + np.roll(upright, -apart)) / 2
    standing = upright * (upright - around)
    elsewhere = np.abs(CLOCK_S - CLOCK_S[peak]) > _NEAR_J_S
    largest = np.abs(upright[elsewhere]).max()
    return bool(standing[peak] > by * standing[elsewhere].max() and largest < 1.0)


def _nearest(places: IndexArray, due_s: float) -> int:
    return int(places[np.abs(CLOCK_S[places] - due_s).argmin()])


def _falls(outwards: FloatArray) -> bool:
    """Say whether a peak falls clearly before anything higher comes."""
    fallen = np.flatnonzero(outwards < outwards[0] - _LEAST_FALL)
    return len(fallen) > 0 and bool(outwards[: fallen[0]].max() <= outwards[0])
