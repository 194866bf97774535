"""How good a window is, and what disturbed it: so that motion is not taken for a stranger."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from math import log10, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from acclock.denoising import kernels
from acclock.denoising.bandpass import bandpass
from acclock.denoising.config import DenoiseConfig
from acclock.denoising.heart_rate import STRONGEST_BEAT, UNREAD, HeartRate, read_heart_rates
from acclock.denoising.periodicity import FASTEST_BPM
from acclock.values import BoolArray, FloatArray

SECOND_DIFFERENCE = 0.6745 * sqrt(6.0)
"""Median magnitude of the second differences of white noise of variance one."""
LIMIT = 15.0
"""In m/s²: no sensor saturates below, the smallest range being 2 g."""
QUIETEST = 1e-6
"""RMS in m/s²: a thousandth of the quietest sensor's noise."""
THIN = 8
"""The usual is a median of so many times fewer (in the kernel): neighbors are averages of the same
samples."""


def measure_saturation(windows: FloatArray) -> list[float]:
    """Give the share of samples that stand still, three in a row, where a sensor may end."""
    if max(windows.max(), -windows.min()) <= LIMIT:  # nearly always, and a tenth of the work
        return [0.0] * len(windows)
    still = (np.diff(windows) == 0) & (np.abs(windows[..., 1:]) > LIMIT)
    shares: list[float] = (still[..., 1:] & still[..., :-1]).mean(axis=(-2, -1)).tolist()
    return shares


def measure_liveliness(beats: FloatArray, config: DenoiseConfig) -> tuple[FloatArray, FloatArray]:
    """Give the RMS over 0.8 s of each axis: the usual of the context, the highest of the window."""
    usual, highest = np.empty(beats.shape[:-1]), np.empty(beats.shape[:-1])
    half = round(config.local_s * config.rate_hz / 2)
    rows = np.ascontiguousarray(beats)
    kernels.liveliness(rows, rows.shape[-1], half, config.window_length, usual, highest)
    return np.sqrt(usual), np.sqrt(highest)


def measure_regularity(windows: FloatArray, config: DenoiseConfig) -> list[float]:
    """Give how evenly the most even axis of each wearer beats, by ``assess_periodicity``."""
    variation = np.empty(windows.shape[:-1])
    slowest, fastest = (
        config.rate_hz * 60.0 / bpm
        for bpm in (config.fastest_bpm, max(config.fastest_bpm, FASTEST_BPM))
    )
    kernels.evenness(
        np.ascontiguousarray(windows),
        windows.shape[-1],
        int(slowest),
        int(fastest),
        slowest,
        config.least_prominence,
        config.most_interval_variation,
        config.most_amplitude_variation,
        variation,
    )
    return [max(0.0, 1.0 - least) for least in variation.min(axis=-1).tolist()]


def compare_with_noise(heard: FloatArray, windows: FloatArray) -> list[float]:
    """Give the RMS of the windows over that of the sensor's noise, in dB.

    Second differences hold little but noise, and their median does not see what else they hold.
    """
    noise, rows = np.empty(heard.shape[:-1]), np.ascontiguousarray(heard)
    kernels.roughness(rows, rows.shape[-1], noise)
    loudness = np.maximum(noise / SECOND_DIFFERENCE, QUIETEST)
    rises = (windows.std(axis=-1) / loudness).max(axis=-1)
    return [20.0 * log10(max(rise, QUIETEST)) for rise in rises.tolist()]


Disturbance = Literal[
    "none", "warm-up", "gap", "silence", "saturation", "absence", "activity", "event"
]
"""What is wrong, the gravest first: too little heard since the stream began or broke off, too much
of the window missing, no signal at all, a sensor at its limit, nothing but the noise of a sensor
that nobody wears, a body that walks or runs, a sporadic event such as a blink or a word."""

BEATS_HZ = (0.8, 25.0)
WARM_UP_S = 8.0
"""Two windows: what the filters need to settle (docs/decisions/0006 has the figures)."""
_MOST_MISSING = 0.4
"""The paper works up to 30 % of lost packets, evenly spread."""
_LEAST_RISE_DB = 2.0
"""On a table nothing rises that far above the noise, whatever the rate; in the ear nearly all does,
and what does not may still beat clearly (docs/denoising.md)."""
_MOST_SATURATED = 0.01
_EVENT = 2.0
"""An event is this much livelier, for 0.8 s, than the usual 0.8 s of the context."""
_AT_ONCE = 16
"""Windows that are judged in one go: what is worked on then stays close to the processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowQuality:
    """What is known about one window of one wearer, all axes together."""

    heart_rate: HeartRate
    """Of the whole context: four seconds are too few."""
    regularity: float
    """How evenly the peaks of the most even axis follow each other, from 0 to 1. Read
    when the heart rate is."""
    beat_to_noise_db: float
    """How far the window rises above the noise of the sensor, on the strongest axis."""
    fluctuation: float
    """The liveliest 0.8 s of the window against the usual 0.8 s of the context: about 1 at rest."""
    saturated_share: float
    missing_share: float
    disturbance: Disturbance

    @property
    def usable(self) -> bool:
        """Whether the window holds a signal at all, be it disturbed."""
        return self.disturbance in {"none", "activity", "event"}


def judge(
    context: FloatArray, received: BoolArray, *, fresh: int, config: DenoiseConfig
) -> WindowQuality:
    """Judge the window at the end of one wearer's mended context.

    Takes ``(axes, n)`` and ``(n,)``, and how many samples came since the last long gap.
    The preparation plays no part: the same window is as good to all of them.
    """
    one = np.array([fresh], dtype=np.intp)
    return judge_all(context[np.newaxis], received[np.newaxis], fresh=one, config=config)[0]


def judge_all(
    contexts: FloatArray,
    received: BoolArray,
    *,
    fresh: NDArray[np.intp],
    config: DenoiseConfig,
    paced: BoolArray | None = None,
) -> list[WindowQuality]:
    """Judge the windows of many wearers in one go, each as if alone: all have the axis before.

    ``paced`` says whose heart rate and regularity are read; of the others they are ``UNREAD`` and
    zero, unless their windows are so weak that the rate decides whether anybody is there.

    One call for a hundred windows costs a third of a hundred calls. Until a stream has filled a
    context it is judged by the whole windows that it has: streams of any age then share a few
    lengths, and those who begin together cost no more than those who go on.
    """
    heard = _count_heard(fresh, config)
    read = np.ones(len(contexts), dtype=bool) if paced is None else paced
    judged: dict[int, WindowQuality] = {}
    for length in np.unique(heard).tolist():
        places = np.flatnonzero(heard == length)
        for start in range(0, len(places), _AT_ONCE):
            some = places[start : start + _AT_ONCE]
            alike = contexts if len(some) == len(contexts) else contexts[some]
            found = _judge_alike(
                alike[..., -length:], received[some], fresh[some], read[some], config
            )
            judged |= zip(some.tolist(), found, strict=True)
    return [judged[place] for place in range(len(contexts))]


def _count_heard(fresh: NDArray[np.intp], config: DenoiseConfig) -> NDArray[np.intp]:
    """Say how many samples of each context a window is judged by."""
    window, context = config.window_length, config.context_length
    whole = np.maximum(fresh // window, 1) * window
    return np.where(fresh < context, whole, context)


def _judge_alike(
    heard: FloatArray,
    received: BoolArray,
    fresh: NDArray[np.intp],
    read: BoolArray,
    config: DenoiseConfig,
) -> Iterator[WindowQuality]:
    """Judge windows of which the same number of samples was heard."""
    length = config.window_length
    beats = bandpass(heard, rate_hz=config.rate_hz, low_hz=BEATS_HZ[0], high_hz=BEATS_HZ[1])
    usual, liveliest = measure_liveliness(beats, config)
    rises_db = compare_with_noise(heard, beats[..., -length:])
    rhythms = _read_some(beats, read | (np.array(rises_db) < _LEAST_RISE_DB), config)
    measured = zip(
        rhythms,
        rises_db,
        (liveliest / np.maximum(usual, QUIETEST)).max(axis=-1).tolist(),
        measure_saturation(heard[..., -length:]),
        (1.0 - received[:, -length:].mean(axis=-1)).tolist(),
        usual.max(axis=-1).tolist(),
        liveliest.max(axis=-1).tolist(),
        fresh.tolist(),
        strict=True,
    )
    return map(partial(_conclude, config=config), starmap(_Measured, measured))


class _Rhythm(NamedTuple):
    heart_rate: HeartRate
    regularity: float


def _read_some(beats: FloatArray, wanted: BoolArray, config: DenoiseConfig) -> list[_Rhythm]:
    """Read how the hearts of some wearers beat."""
    some = beats if wanted.all() else beats[wanted]
    if not len(some):
        return [_Rhythm(UNREAD, 0.0)] * len(beats)
    rates = read_heart_rates(some, config.rate_hz)
    evenness = measure_regularity(some[..., -config.window_length :], config)
    found = map(_Rhythm, rates, evenness)
    return [next(found) if one else _Rhythm(UNREAD, 0.0) for one in wanted.tolist()]


class _Measured(NamedTuple):
    rhythm: _Rhythm
    beat_to_noise_db: float
    fluctuation: float
    saturated_share: float
    missing_share: float
    usual: float
    highest: float
    fresh: int


def _conclude(seen: _Measured, config: DenoiseConfig) -> WindowQuality:
    weak = seen.beat_to_noise_db < _LEAST_RISE_DB
    return WindowQuality(
        heart_rate=seen.rhythm.heart_rate,
        regularity=seen.rhythm.regularity,
        beat_to_noise_db=seen.beat_to_noise_db,
        fluctuation=seen.fluctuation,
        saturated_share=seen.saturated_share,
        missing_share=seen.missing_share,
        disturbance=_name(
            {
                "warm-up": seen.fresh < WARM_UP_S * config.rate_hz,
                "gap": seen.missing_share > _MOST_MISSING,
                "silence": seen.highest < QUIETEST,
                "saturation": seen.saturated_share > _MOST_SATURATED,
                "absence": weak and not seen.rhythm.heart_rate.clear,
                "activity": seen.usual > STRONGEST_BEAT,
                "event": seen.fluctuation > _EVENT or seen.highest > STRONGEST_BEAT,
            }
        ),
    )


def _name(signs: dict[Disturbance, bool]) -> Disturbance:
    """Name the first, which is the gravest, of what is wrong."""
    return next((name for name, seen in signs.items() if seen), "none")
