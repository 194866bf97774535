"""Where the heart beats, and what its average beat looks like."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from acclock.denoising.bandpass import bandpass
from acclock.denoising.heart_rate import FASTEST_BPM, SLOWEST_BPM, measure_heart_rate
from acclock.errors import SignalError
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


BEFORE_S = 0.25
AFTER_S = 0.45
"""How much of a beat is looked at before and after its J peak."""

_FINE_HZ = 200.0
"""Beats are placed on a clock of at least this rate: 10 ms is twice the spread of a fiducial."""
_EDGE_S = 1.0
_BRISK_HZ = (3.0, 25.0)
"""Where beats are looked for: slower than this, heads sway."""
_FULL_HZ = (2.0, 25.0)
"""Where J is looked for within a beat: it is broader than what tells beats apart."""
_STARTS = 6
"""How many places of a recording are tried as a first beat."""
_TRIAL_ROUNDS = 2
_FINAL_ROUNDS = 2
"""How often beats are matched with their own average; another round moves hardly any."""
_SPAN = 0.75
"""How far to both sides of a place J is looked for, in periods."""
_NEIGHBORS_S = 0.06
"""How far I and K lie from J, about."""
_LEAST_MATCH = 0.3
"""What matches the average beat by less than this is noise."""
_LEAST_COVER = 0.44
_COVER_OF_ONE_SECOND = 0.8
"""Noise resembles itself by chance, the more the less there is of it: it covers a recording by
less than 0.44 + 0.8 / seconds (docs/decisions/0005)."""


@dataclass(frozen=True, slots=True, eq=False)
class AverageBeat:
    """One beat that stands for many, with its J peak at time zero."""

    times_s: FloatArray
    """From ``-BEFORE_S`` to ``AFTER_S``."""
    waveform: FloatArray
    """The mean of the beats, in the unit of the heartbeat; J points up or down."""
    count: int
    """How many beats were averaged."""
    clarity: float
    """Mean correlation of the single beats with their average: 1 when all are alike."""


def find_beats(heartbeat: FloatArray, rate_hz: float) -> FloatArray:
    """Give the times in seconds of the J peaks of one denoised axis; none when nothing beats.

    J is the deflection that stands out of the average beat, whichever way it points. Beats out of
    time (premature ones) are found; what does not resemble the others is left out.
    Ours: docs/decisions/0005.

    >>> seconds = np.arange(2000) / 100.0
    >>> phase = seconds % 0.8 - 0.4
    >>> beats = np.cos(2 * np.pi * 8 * phase) * np.exp(-((phase / 0.06) ** 2))
    >>> find_beats(beats, 100.0)[:3].round(2)
    array([0.4, 1.2, 2. ])
    """
    bpm = measure_heart_rate(heartbeat, rate_hz).bpm
    fine_hz = rate_hz * _refinement(rate_hz)
    fine, full = (
        _refine(bandpass(heartbeat, rate_hz=rate_hz, low_hz=low, high_hz=high), rate_hz)
        for low, high in (_BRISK_HZ, _FULL_HZ)
    )
    follow = partial(_follow, fine, full, fine_hz)
    chains = [
        follow(Chain(np.array([start]), period, np.empty(0)), _TRIAL_ROUNDS)
        for start in np.linspace(0.0, len(fine), _STARTS + 2)[1:-1]
        for period in _guess_periods(bpm, fine_hz)
    ]
    if not chains:
        return np.empty(0)
    best = max(chains, key=lambda chain: chain.cover(len(fine)))
    best = follow(best, _FINAL_ROUNDS)
    if best.cover(len(fine)) < _LEAST_COVER + _COVER_OF_ONE_SECOND * fine_hz / len(fine):
        return np.empty(0)
    beats = best.places[best.matches >= _LEAST_MATCH]
    return beats[(beats >= 0) & (beats < len(fine))] / fine_hz


def average_beat(heartbeat: FloatArray, beats_s: FloatArray, rate_hz: float) -> AverageBeat:
    """Average the beats whose J peaks lie at ``beats_s``, where the heartbeat holds them whole."""
    fine, fine_hz = _refine(heartbeat, rate_hz), rate_hz * _refinement(rate_hz)
    window = np.arange(-round(BEFORE_S * fine_hz), round(AFTER_S * fine_hz) + 1)
    beats = cut(fine, beats_s * fine_hz, window)
    if not len(beats):
        raise SignalError("there is no whole beat to average")
    waveform = beats.mean(axis=0)
    likeness = np.corrcoef(waveform, beats)[0, 1:]
    return AverageBeat(window / fine_hz, waveform, len(beats), float(likeness.mean()))


def _refinement(rate_hz: float) -> int:
    return int(np.ceil(_FINE_HZ / rate_hz))


def _refine(signal: FloatArray, rate_hz: float) -> FloatArray:
    """Interpolate to a multiple of the rate, without changing the band."""
    factor = _refinement(rate_hz)
    if factor == 1:
        return signal
    edge = min(int(_EDGE_S * rate_hz), len(signal) - 1)
    padded = np.pad(signal, edge, mode="reflect", reflect_type="odd")
    fine = np.fft.irfft(np.fft.rfft(padded), factor * len(padded)) * factor
    return fine[factor * edge : factor * (edge + len(signal))]


def _guess_periods(bpm: float, rate_hz: float) -> list[float]:
    """Give the periods in samples to be tried: a rate is often read at half or double."""
    paces = (bpm / 2, bpm, 2 * bpm)
    return [60.0 * rate_hz / pace for pace in paces if SLOWEST_BPM <= pace <= FASTEST_BPM]


def _follow(
    brisk: FloatArray, full: FloatArray, rate_hz: float, chain: Chain, rounds: int
) -> Chain:
    """Improve a chain some times, and move its places onto J each time."""
    for _ in range(rounds):
        chain = improve(brisk, chain)
        chain = replace(chain, places=chain.places + _find_j(full, rate_hz, chain))
    return chain


def _find_j(signal: FloatArray, rate_hz: float, chain: Chain) -> int:
    """Say how far from its places the deflection lies that stands out of the average beat.

    It is large, and far from what lies 60 ms before and after it. The average spans more than a
    period, because the J of the next beat is blurred when the heart is uneven.
    """
    reach = int(_SPAN * chain.period)
    around = cut(signal, chain.places, np.arange(-reach, reach + 1))
    if not len(around):
        return 0
    average = around.mean(axis=0)
    apart = round(_NEIGHBORS_S * rate_hz)
    neighbors = (np.roll(average, apart) + np.roll(average, -apart)) / 2
    return int((average * (average - neighbors)).argmax()) - reach
