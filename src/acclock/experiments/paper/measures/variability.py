"""How alike the beats of one person are, and those of different ones, by their average beats."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Self

import numpy as np

from acclock.denoising.bandpass import bandpass
from acclock.denoising.beats import AFTER_S, BEFORE_S, AverageBeat, average_beat, find_beats
from acclock.denoising.fiducials import FiducialName, find_fiducials
from acclock.errors import TooFewError
from acclock.experiments.paper.cohorts import gather_members
from acclock.experiments.paper.units import Outcome, Unit
from acclock.simulation import Device, Scene, draw_person, simulate
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


def measure_beats(recording: Recording, *, axis: int = 0, edge_s: float = 0.0) -> Beats:
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


EDGE_S = 12.0
"""Left out at both ends of a simulated recording: nobody looks at the moment of putting it in."""
_OUT_OF_THE_CHEST = 2
"""The axis on which a phone that lies on a chest feels the heart most."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How many are looked at. The defaults are the paper's."""

    windows: int = 200
    remounted: int = 5
    remounts: int = 100
    people: int = 33
    on_two_devices: int = 10
    windows_each: int = 5
    """Of a person, where the paper does not say how many."""


_FEW = Sampling(windows=10, remounted=2, remounts=4, people=4, on_two_devices=2, windows_each=2)

Compared = tuple[FloatArray, list[Beats]]
"""Correlations of pairs, and the groups within which intervals vary."""


def measure(unit: Unit) -> Outcome:
    """Compare average beats in the setting that the variant is named after.

    Paper: Sec. 2.3, Tables 1 and 2.
    """
    setting = unit.variant.name
    if unit.cohort.is_real:
        correlations, groups = _compare_recorded(unit, setting)
    else:
        sampling = Sampling() if unit.scale.is_result else _FEW
        correlations, groups = compare(setting, unit.seed, sampling)
    spreads = zip(POINTS, spread_ms(groups), strict=True)
    return Outcome(
        values={
            "correlation, mean": float(correlations.mean()),
            "correlation, spread": float(correlations.std()),
            **{f"J-{point}, spread in ms": float(value) for point, value in spreads},
        }
    )


def wear(person: int, cohort: int, session: int, windows: int, device: Device) -> Beats:
    """Simulate somebody who sits still, and look at the average beats of that many windows."""
    duration_s = windows * WINDOW_S + 2 * EDGE_S
    scene = Scene(duration_s=duration_s, session=session, device=device)
    return measure_beats(simulate(draw_person(person, seed=cohort), scene).recording, edge_s=EDGE_S)


def compare(setting: str, cohort: int, sampling: Sampling) -> Compared:
    """Compare the beats of simulated people in one of the paper's four settings."""
    few = sampling.windows_each
    if setting == "within a session":
        beats = wear(0, cohort, 0, sampling.windows, "prototype")
        return correlate_within(beats), [beats]
    if setting == "between sessions":
        groups = [
            join([wear(person, cohort, time, 1, "prototype") for time in range(sampling.remounts)])
            for person in range(sampling.remounted)
        ]
        return np.concatenate([correlate_within(group) for group in groups]), groups
    count = sampling.people if setting == "between people" else sampling.on_two_devices
    ours = [wear(one, cohort, 0, few, "prototype") for one in range(count)]
    if setting == "between people":
        return _correlate_all(list(combinations(ours, 2))), [join(ours)]
    theirs = [wear(one, cohort, 0, few, "airpods") for one in range(count)]
    return _correlate_all(list(zip(ours, theirs, strict=True))), [join([*ours, *theirs])]


def _compare_recorded(unit: Unit, setting: str) -> Compared:
    members = gather_members(unit.cohort, unit.scale, unit.seed)
    everybody = [
        [measure_beats(one, axis=_OUT_OF_THE_CHEST) for one in member.recordings]
        for member in members
    ]
    everybody = [[one for one in theirs if len(one) > 1] for theirs in everybody]
    firsts = [theirs[0] for theirs in everybody if theirs]
    if setting == "within a session":
        return np.concatenate([correlate_within(one) for one in firsts]), firsts
    if setting == "between people":
        few = [one.keep(Sampling().windows_each) for one in firsts]
        return _correlate_all(list(combinations(few, 2))), [join(few)]
    again = [theirs for theirs in everybody if len(theirs) > 1]
    if not again:
        raise TooFewError(what="people who were recorded twice", have=0, need=1)
    pairs = [pair for theirs in again for pair in combinations(theirs, 2)]
    return _correlate_all(pairs), [join(theirs) for theirs in again]


def _correlate_all(pairs: list[tuple[Beats, Beats]]) -> FloatArray:
    return np.concatenate([correlate(one, other).ravel() for one, other in pairs])
