"""Average beats of windows, and how alike they are."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from acclock.denoising.bandpass import bandpass
from acclock.denoising.beats import AFTER_S, BEFORE_S, AverageBeat, average_beat, find_beats
from acclock.denoising.fiducials import FiducialName, find_fiducials
from acclock.values import FloatArray, Recording

WINDOW_S = 4.0
GRID_S = np.linspace(-0.25, 0.45, 141)
_ROOM_S = max(BEFORE_S, AFTER_S) + 0.1
"""What a beat needs on either side to be whole."""
POINTS: tuple[FiducialName, ...] = ("H", "I", "L")


@dataclass(frozen=True, slots=True)
class Beats:
    """The average beats of some windows."""

    waveforms: FloatArray
    """Shape ``(windows, samples)``, J in the same place."""
    intervals_ms: FloatArray
    """Between J and the points, shape ``(windows, 3)``; NaN where one was not found."""

    def __len__(self) -> int:
        return len(self.waveforms)

    def keep(self, count: int) -> Self:
        """Give the first so many."""
        return replace(
            self, waveforms=self.waveforms[:count], intervals_ms=self.intervals_ms[:count]
        )


def look(recording: Recording, *, axis: int = 0, edge_s: float = 0.0) -> Beats:
    """Give the average beat of every window, found without any knowledge of the truth.

    ``edge_s`` is left out at both ends.
    """
    heartbeat = bandpass(recording.samples[axis], rate_hz=recording.rate_hz)
    found_s = find_beats(heartbeat, recording.rate_hz)
    beats_s = found_s[(found_s > _ROOM_S) & (found_s < recording.duration_s - _ROOM_S)]
    starts_s = np.arange(edge_s, recording.duration_s - edge_s - WINDOW_S / 2, WINDOW_S)
    windows = [beats_s[(beats_s >= start) & (beats_s < start + WINDOW_S)] for start in starts_s]
    averages = [average_beat(heartbeat, some, recording.rate_hz) for some in windows if len(some)]
    waveforms = [np.interp(GRID_S, beat.times_s, beat.waveform) for beat in averages]
    return Beats(
        np.reshape(waveforms, (-1, len(GRID_S))),
        np.reshape([_intervals_ms(beat) for beat in averages], (-1, len(POINTS))),
    )


def correlate(some: Beats, others: Beats) -> FloatArray:
    """Give the Pearson correlation of every waveform with every other one."""
    return np.asarray(_normalize(some.waveforms) @ _normalize(others.waveforms).T)


def correlate_within(beats: Beats) -> FloatArray:
    """Give the correlation of every two waveforms, each pair once."""
    return np.asarray(correlate(beats, beats)[np.triu_indices(len(beats), 1)])


def join(groups: list[Beats]) -> Beats:
    """Lay the windows of several groups together."""
    return Beats(
        np.concatenate([group.waveforms for group in groups]),
        np.concatenate([group.intervals_ms for group in groups]),
    )


def spread_ms(groups: list[Beats]) -> FloatArray:
    """Give the standard deviation of the intervals within groups, over all groups."""
    variances = [np.nanvar(group.intervals_ms, axis=0) for group in groups]
    return np.asarray(np.sqrt(np.nanmean(variances, axis=0)))


def _normalize(waveforms: FloatArray) -> FloatArray:
    centered = waveforms - waveforms.mean(axis=1, keepdims=True)
    return np.asarray(centered / np.linalg.norm(centered, axis=1, keepdims=True))


def _intervals_ms(beat: AverageBeat) -> list[float]:
    intervals = [find_fiducials(beat).interval_ms(point) for point in POINTS]
    return [np.nan if interval is None else interval for interval in intervals]
