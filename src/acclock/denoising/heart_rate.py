"""How fast a heart beats, how clearly that can be read, and on which axis."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from acclock.denoising import kernels
from acclock.denoising.bandpass import bandpass
from acclock.errors import SignalError, TooShortError
from acclock.values import FloatArray, Recording

SLOWEST_BPM = 40.0
FASTEST_BPM = 180.0

_LONGEST_BLOCK_S = 10.0
"""Rhythm is compared with itself within blocks: over minutes the heart changes its pace."""
_SHORTEST_S = 3.0
"""Two beats of the slowest heart, below which nothing can be said to repeat."""
_NEARLY = 0.85
"""A rhythm repeats after two beats as well as after one: the shortest lag that does nearly as
well as the best is the beat."""
_LOWEST_CLARITY = 0.30
_CLARITY_OF_ONE_SECOND = 1.4
"""Noise repeats itself by chance, the more so the less there is of it: sensor noise of any color
stays below 1.4 / sqrt(seconds) (docs/denoising.md has the table)."""
STRONGEST_BEAT = 0.6
"""RMS in m/s² of the strongest axis. Steps are a clear rhythm too, but they shake ten times
harder: chests and heads at rest stay below 0.6, people who walk begin at 0.8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartRate:
    """A heart rate, with the numbers that say whether to believe it."""

    bpm: float
    """Beats per minute; zero when nothing repeats at the pace of a heart."""
    clarity: float
    """How well the beat repeats itself, from 0 (not at all) to 1 (exactly)."""
    needed_clarity: float
    """The clarity that noise of this length does not reach."""
    rms: float
    """Strength of the strongest axis in m/s², as its median over the blocks."""

    @property
    def clear(self) -> bool:
        """Whether this is a heartbeat, rather than noise or steps that happen to repeat."""
        return self.clarity >= self.needed_clarity and self.rms < STRONGEST_BEAT


UNREAD = HeartRate(bpm=0.0, clarity=0.0, needed_clarity=1.0, rms=0.0)
"""Of a stretch that nobody has looked at, or that is too short to be looked at."""


def measure_heart_rate(heartbeat: FloatArray, rate_hz: float) -> HeartRate:
    """Read the heart rate off one stretch of acceleration in m/s², raw or denoised.

    Takes one axis ``(n,)`` or several ``(axes, n)``. The envelope of the 4-25 Hz band is laid
    over itself at every lag from 40 to 180 bpm. Too short or silent a stretch is not refused: its
    clarity is zero.

    >>> seconds = np.arange(2000) / 100.0
    >>> beats = 0.1 * np.sin(2 * np.pi * 12.0 * seconds) * np.exp(-10 * (seconds % 0.8))
    >>> rate = measure_heart_rate(beats, 100.0)
    >>> round(rate.bpm), rate.clear
    (75, True)
    """
    axes = np.atleast_2d(np.asarray(heartbeat, dtype=np.float64))
    if axes.ndim != 2 or not np.isfinite(axes).all():
        raise SignalError("a heart rate is read from finite samples, one axis or one row per axis")
    return read_heart_rate(bandpass(axes, rate_hz=rate_hz, low_hz=0.8, high_hz=25.0), rate_hz)


def read_heart_rate(beats: FloatArray, rate_hz: float) -> HeartRate:
    """Do as ``measure_heart_rate`` does with axes that are already band-passed to 0.8-25 Hz."""
    return read_heart_rates(beats[np.newaxis], rate_hz)[0]


def read_heart_rates(beats: FloatArray, rate_hz: float) -> list[HeartRate]:
    """Read the heart rate of many wearers at once, ``(wearers, axes, n)``: each as if alone."""
    seconds = beats.shape[-1] / rate_hz
    if seconds < _SHORTEST_S:
        return [UNREAD] * len(beats)
    block = int(min(seconds, _LONGEST_BLOCK_S) * rate_hz)
    lags = _list_lags(block, rate_hz)
    around = range(lags.start - 1, lags.stop + 1)
    found, clarities = _find_beats(_similarities(_envelopes(beats, rate_hz), block, around), lags)
    needed = max(_LOWEST_CLARITY, _CLARITY_OF_ONE_SECOND / sqrt(seconds))
    return [
        HeartRate(
            bpm=60.0 * rate_hz / lag if lag else 0.0,
            clarity=clarity,
            needed_clarity=needed,
            rms=strength,
        )
        for lag, clarity, strength in zip(
            found.tolist(), clarities.tolist(), _strengths(beats, block).tolist(), strict=True
        )
    ]


def _envelopes(beats: FloatArray, rate_hz: float) -> FloatArray:
    # Below 4 Hz the envelope of a beat is the beat, and sway is in it.
    sharp = bandpass(beats, rate_hz=rate_hz, low_hz=4.0, high_hz=25.0)
    strength = np.sqrt(np.einsum("wan,wan->wn", sharp, sharp))
    return bandpass(strength, rate_hz=rate_hz, low_hz=0.6, high_hz=6.0)


def _similarities(envelopes: FloatArray, block: int, lags: range) -> FloatArray:
    """Mean autocorrelation of the blocks, each scaled to itself so that one bump cannot rule."""
    likeness = np.empty((len(envelopes), len(lags)))
    rows = np.ascontiguousarray(envelopes)
    kernels.resemble(rows, rows.shape[-1], block, max(1, block // 2), lags.start, likeness)
    return likeness


def _list_lags(block: int, rate_hz: float) -> range:
    """Give the lags in samples that a heart can have."""
    first = max(1, int(np.ceil(60.0 * rate_hz / FASTEST_BPM)))
    return range(first, max(first, min(int(60.0 * rate_hz / SLOWEST_BPM), block * 3 // 4)))


def _find_beats(similarities: FloatArray, lags: range) -> tuple[FloatArray, FloatArray]:
    """Lag of one beat in samples and the similarity there; both zero where nothing repeats.

    Takes the similarities of the lags and of one more on either side.
    """
    before, here, after = similarities[:, :-2], similarities[:, 1:-1], similarities[:, 2:]
    peaks = np.where((here >= before) & (here > after) & (here > 0), here, 0.0)
    best = peaks.max(axis=-1, initial=0.0)[:, np.newaxis]
    if not best.any():
        return np.zeros(len(peaks)), np.zeros(len(peaks))
    chosen = ((peaks >= _NEARLY * best) & (peaks > 0)).argmax(axis=-1)[:, np.newaxis]
    left, top, right = (np.take_along_axis(one, chosen, -1) for one in (before, here, after))
    bend = np.where(best > 0, 2 * (left - 2 * top + right), 1.0)
    found = np.where(best > 0, lags.start + chosen + (left - right) / bend, 0.0)
    return found[:, 0], np.where(best > 0, np.minimum(1.0, top), 0.0)[:, 0]


def _strengths(beats: FloatArray, block: int) -> FloatArray:
    whole = beats[..., : beats.shape[-1] // block * block]
    blocks = whole.reshape(*beats.shape[:-1], -1, block)
    return np.asarray(np.median(blocks.std(axis=-1), axis=-1).max(axis=-1))


SHORTEST_S = 4.0
"""Three beats of a slow heart: less says nothing about a rate."""


@dataclass(frozen=True, slots=True, eq=False)
class Heartbeat:
    """The clearest of three axes, cleaned by a plain band-pass, and the rate of all three."""

    axis: str
    signal: FloatArray
    rate: HeartRate


def clearest_heartbeat(recording: Recording) -> Heartbeat:
    """Band-pass the longest stretch without a gap and keep the axis that beats most clearly."""
    samples = longest_stretch(recording)
    if samples.shape[-1] < SHORTEST_S * recording.rate_hz:
        raise TooShortError(have_s=samples.shape[-1] / recording.rate_hz, need_s=SHORTEST_S)
    signals = bandpass(samples, rate_hz=recording.rate_hz)
    clarities = [measure_heart_rate(signal, recording.rate_hz).clarity for signal in signals]
    clearest = int(np.argmax(clarities))
    rate = measure_heart_rate(signals, recording.rate_hz)
    return Heartbeat("xyz"[clearest], signals[clearest], rate)


def longest_stretch(recording: Recording) -> FloatArray:
    """Give the samples between two gaps where most of them lie.

    >>> lost = np.ones(10, bool)
    >>> lost[3] = False
    >>> longest_stretch(Recording(samples=np.ones((3, 10)), rate_hz=1.0, received=lost)).shape
    (3, 6)
    """
    edges = np.flatnonzero(np.diff(recording.received, prepend=False, append=False))
    if edges.size == 0:
        return recording.samples[:, :0]
    starts, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - starts))
    return recording.samples[:, starts[longest] : ends[longest]]
