"""How good a window is, and what disturbed it: so that motion is not taken for a stranger."""

from dataclasses import dataclass
from math import log10, sqrt
from typing import Literal

import numpy as np

from acclock.denoising.bandpass import bandpass
from acclock.denoising.config import DenoiseConfig
from acclock.denoising.heart_rate import STRONGEST_BEAT, HeartRate, read_heart_rate
from acclock.denoising.local_power import measure_local_power
from acclock.denoising.periodicity import assess_periodicity
from acclock.denoising.shrinkage import find_median_magnitudes
from acclock.values import BoolArray, FloatArray

Disturbance = Literal[
    "none", "warm-up", "gap", "silence", "saturation", "absence", "activity", "event"
]
"""What is wrong, the gravest first: too little heard since the stream began or broke off, too much
of the window missing, no signal at all, a sensor at its limit, nothing but the noise of a sensor
that nobody wears, a body that walks or runs, a sporadic event such as a blink or a word."""

BEATS_HZ = (0.8, 25.0)
SECOND_DIFFERENCE = 0.6745 * sqrt(6.0)
"""Median magnitude of the second differences of white noise of variance one."""
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
LIMIT = 15.0
"""In m/s²: no sensor saturates below, the smallest range being 2 g."""
QUIETEST = 1e-6
"""RMS in m/s²: a thousandth of the quietest sensor's noise."""
THIN = 8
"""The usual is a median of so many times fewer: neighbors are averages of the same samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowQuality:
    """What is known about one window of one wearer, all axes together."""

    heart_rate: HeartRate
    """Of the whole context: four seconds are too few."""
    regularity: float
    """How evenly the peaks of the most even axis follow each other, from 0 to 1."""
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
    length = config.window_length
    heard = context[:, -max(fresh, length) :]
    beats = bandpass(heard, rate_hz=config.rate_hz, low_hz=BEATS_HZ[0], high_hz=BEATS_HZ[1])
    window, missing = context[:, -length:], 1.0 - float(received[-length:].mean())
    saturated = _measure_saturation(window)
    usual, liveliest = _measure_liveliness(beats, config)
    fluctuation = float((liveliest / np.maximum(usual, QUIETEST)).max())
    heart_rate = read_heart_rate(beats, config.rate_hz)
    rise_db = _compare_with_noise(heard, beats[:, -length:])
    return WindowQuality(
        heart_rate=heart_rate,
        regularity=_measure_regularity(beats[:, -length:], config),
        beat_to_noise_db=rise_db,
        fluctuation=fluctuation,
        saturated_share=saturated,
        missing_share=missing,
        disturbance=_name(
            {
                "warm-up": fresh < WARM_UP_S * config.rate_hz,
                "gap": missing > _MOST_MISSING,
                "silence": liveliest.max() < QUIETEST,
                "saturation": saturated > _MOST_SATURATED,
                "absence": rise_db < _LEAST_RISE_DB and not heart_rate.clear,
                "activity": usual.max() > STRONGEST_BEAT,
                "event": fluctuation > _EVENT or liveliest.max() > STRONGEST_BEAT,
            }
        ),
    )


def _name(signs: dict[Disturbance, bool]) -> Disturbance:
    """Name the first, which is the gravest, of what is wrong."""
    return next((name for name, seen in signs.items() if seen), "none")


def _measure_saturation(window: FloatArray) -> float:
    """Give the share of samples that stand still, three in a row, where a sensor may end."""
    if max(window.max(), -window.min()) <= LIMIT:  # nearly always, and a tenth of the work
        return 0.0
    still = (np.diff(window) == 0) & (np.abs(window[:, 1:]) > LIMIT)
    return float((still[:, 1:] & still[:, :-1]).mean())


def _measure_liveliness(beats: FloatArray, config: DenoiseConfig) -> tuple[FloatArray, FloatArray]:
    """Give the RMS over 0.8 s of each axis: the usual of the context, the highest of the window."""
    local = measure_local_power(beats, round(config.local_s * config.rate_hz / 2))
    usual = find_median_magnitudes(local[:, ::THIN])
    return np.sqrt(usual), np.sqrt(local[:, -config.window_length :].max(axis=-1))


def _measure_regularity(window: FloatArray, config: DenoiseConfig) -> float:
    seen = [assess_periodicity(np.ascontiguousarray(axis), config) for axis in window]
    return max(0.0, 1.0 - min(axis.interval_variation for axis in seen))


def _compare_with_noise(heard: FloatArray, window: FloatArray) -> float:
    """Give the RMS of the window over that of the sensor's noise, in dB.

    Second differences hold little but noise, and their median does not see what else they hold.
    """
    noise = find_median_magnitudes(np.diff(heard, n=2)) / SECOND_DIFFERENCE
    rise = float((window.std(axis=-1) / np.maximum(noise, QUIETEST)).max())
    return 20.0 * log10(max(rise, QUIETEST))
