"""Chains of places that look alike and follow each other in time: beats, before they are named."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from acclock.values import FloatArray

IndexArray = NDArray[np.intp]

_HASTE = 5.0
"""Price of a beat out of time, in perfect beats, per squared logarithm of its delay."""
_SHORTEST_DELAY = 0.4
_LONGEST_DELAY = 2.5
"""In periods. A beat after a longer delay pays no more: it was not late, there was a gap."""
_FEWEST_BEATS = 4
"""From so many on, the beats know their period better than whoever guessed it."""
_BLOCK = 1024
"""Transforms take a multiple of this, because prime lengths are slow."""
_NOTHING = 1e-30


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Places in a signal that are taken for beats, in samples."""

    places: FloatArray
    period: float
    matches: FloatArray
    """How well each place matches the average of all: 1 when they are the same."""

    def cover(self, count: int) -> float:
        """Say how well the chain accounts for ``count`` samples, from 0 to about 1."""
        return float(self.matches.sum()) * self.period / count


def improve(signal: FloatArray, chain: Chain) -> Chain:
    """Average one period around the places, and chain up the places that are like it."""
    reach = int(chain.period / 2)
    around = cut(signal, chain.places, np.arange(-reach, reach + 1))
    if not len(around):
        return Chain(np.empty(0), chain.period, np.empty(0))
    match = _match(signal, around.mean(axis=0))
    peaks = _track(match, chain.period)
    places = _vertex(match, peaks)
    known = len(places) >= _FEWEST_BEATS
    period = float(np.median(np.diff(places))) if known else chain.period
    return Chain(places, period, match[peaks])


def cut(signal: FloatArray, places: FloatArray, window: IndexArray) -> FloatArray:
    """Lay what lies around the places on top of each other, one row each, where it is whole."""
    whole = places[(places + window[0] >= 0) & (places + window[-1] <= len(signal) - 1)]
    return np.interp(whole[:, None] + window, np.arange(len(signal)), signal)


def _match(signal: FloatArray, template: FloatArray) -> FloatArray:
    """Say at every sample how much what lies around it is like the template, from 0 to 1.

    The product of size and correlation: silence has the one wrong, a bump the other.
    """
    likeness = _slide(signal, template)
    energy = np.maximum(_slide(signal**2, np.ones_like(template)), _NOTHING)
    own = max(float(template @ template), _NOTHING)
    size = np.clip(likeness / own, 0.0, 1.0)
    return size * np.clip(likeness / np.sqrt(energy * own), 0.0, 1.0)


def _slide(signal: FloatArray, template: FloatArray) -> FloatArray:
    """Multiply and add along the signal; at sample ``i`` the template's middle lies on it."""
    size = -(-(len(signal) + len(template)) // _BLOCK) * _BLOCK
    product = np.fft.rfft(signal, size) * np.conj(np.fft.rfft(template, size))
    return np.roll(np.fft.irfft(product, size), len(template) // 2)[: len(signal)]


def _track(score: FloatArray, period: float) -> IndexArray:
    """Choose the peaks of a score that are high and come in time.

    Every peak extends the best chain of earlier ones; a beat early or late by some factor costs
    the square of its logarithm, so that a premature beat is dear but not forbidden.

    >>> score = np.zeros(100)
    >>> score[[10, 30, 37, 50, 70]] = [1.0, 0.9, 0.5, 0.8, 1.0]
    >>> _track(score, period=20.0)
    array([10, 30, 50, 70])
    """
    peaks = 1 + np.flatnonzero((score[1:-1] >= score[:-2]) & (score[1:-1] > score[2:]))
    last = np.searchsorted(peaks, peaks - _SHORTEST_DELAY * period)
    first = np.searchsorted(peaks, peaks - _LONGEST_DELAY * period)
    first = np.minimum(first, np.maximum(last - 1, 0))
    total, previous = score[peaks], np.full(len(peaks), -1)
    for here in np.flatnonzero(last):
        earlier = slice(first[here], last[here])
        delays = np.minimum((peaks[here] - peaks[earlier]) / period, _LONGEST_DELAY)
        chains = total[earlier] - _HASTE * np.log(delays) ** 2
        best = int(chains.argmax())
        if chains[best] > 0:
            total[here] += chains[best]
            previous[here] = first[here] + best
    return peaks[_walk_back(previous, int(total.argmax()))] if len(peaks) else peaks


def _walk_back(previous: IndexArray, here: int) -> IndexArray:
    chain = []
    while here >= 0:
        chain.append(here)
        here = int(previous[here])
    return np.array(chain[::-1])


def _vertex(score: FloatArray, peaks: IndexArray) -> FloatArray:
    """Place each peak where the parabola through it and its neighbors is highest."""
    left, top, right = score[peaks - 1], score[peaks], score[peaks + 1]
    return peaks + (left - right) / (2 * (left - 2 * top + right))
