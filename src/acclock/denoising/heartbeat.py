"""Which of the three axes feels the heart best, and what it feels."""

from dataclasses import dataclass

import numpy as np

from acclock.denoising.bandpass import bandpass
from acclock.denoising.heart_rate import HeartRate, measure_heart_rate
from acclock.errors import TooShortError
from acclock.values import FloatArray, Recording

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
