"""Where the heart beats, and what its average beat looks like."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from acclock.denoising.bandpass import bandpass
from acclock.denoising.chains import Chain, cut, improve
from acclock.denoising.heart_rate import FASTEST_BPM, SLOWEST_BPM, measure_heart_rate
from acclock.errors import SignalError
from acclock.values import FloatArray

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
