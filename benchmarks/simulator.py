"""The simulator beside the paper, and its speed: ``python -m benchmarks.simulator``.

Each cohort is sampled as the paper sampled its people; a figure is the median over the cohorts.
PASS says that it lies within the tolerance, GIVES that it does not. Only figures of the signal are
looked at, never error rates. ``--cohorts N``, ``--json FILE``.
"""

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from acclock.denoising.bandpass import bandpass
from acclock.denoising.beats import AverageBeat, average_beat, find_beats
from acclock.denoising.fiducials import FiducialName, find_fiducials
from acclock.simulation import Device, Scene, draw_person, simulate
from acclock.values import FloatArray, Recording

WINDOW_S = 4.0
EDGE_S = 12.0
"""Left out at both ends of a recording: nobody looks at the moment of putting it in."""
GRID_S = np.linspace(-0.25, 0.45, 141)
POINTS: tuple[FiducialName, ...] = ("H", "I", "L")
COHORTS = 5
TARGET_S = 20.0
"""For 33 people of 16 minutes, on two cores: printed, never a failure."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of the paper, and how far from it the simulator may lie."""

    name: str
    paper: float
    tolerance: float


def _setting(name: str, mean: float, spread: float, *intervals_ms: float) -> list[Figure]:
    return [
        Figure(f"{name}: correlation, mean", mean, 0.05),
        Figure(f"{name}: correlation, spread", spread, 0.08),
        *(
            Figure(f"{name}: J-{point}, spread in ms", value, 0.25 * value)
            for point, value in zip(POINTS, intervals_ms, strict=True)
        ),
    ]


FIGURES = [
    *_setting("within a session", 0.83, 0.11, 6.3, 5.0, 4.7),
    *_setting("between sessions", 0.80, 0.09, 8.6, 7.2, 7.9),
    *_setting("between people", 0.02, 0.31, 22.0, 18.1, 20.7),
    *_setting("between devices", 0.73, 0.11, 30.1, 20.2, 21.5),
    Figure("J amplitude in m/s²", 0.483, 0.05),
    Figure("noise on a table in m/s²", 0.041, 0.004),
]
"""Tables 1 and 2 and Sec. 2.1 of the paper."""


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


@dataclass(frozen=True, slots=True)
class Beats:
    """The average beats of some windows."""

    waveforms: FloatArray
    """Shape ``(windows, samples)``, J in the same place."""
    intervals_ms: FloatArray
    """Between J and the points, shape ``(windows, 3)``; NaN where one was not found."""


def wear(person: int, cohort: int, session: int, windows: int, device: Device) -> Beats:
    """Simulate somebody who sits still, and look at the average beats of that many windows."""
    duration_s = windows * WINDOW_S + 2 * EDGE_S
    scene = Scene(duration_s=duration_s, session=session, device=device)
    return look(simulate(draw_person(person, seed=cohort), scene).recording)


def look(recording: Recording) -> Beats:
    """Give the average beat of every window, found without any knowledge of the truth."""
    heartbeat = bandpass(recording.samples[0], rate_hz=recording.rate_hz)
    beats_s = find_beats(heartbeat, recording.rate_hz)
    starts_s = np.arange(EDGE_S, recording.duration_s - EDGE_S - WINDOW_S / 2, WINDOW_S)
    windows = [beats_s[(beats_s >= start) & (beats_s < start + WINDOW_S)] for start in starts_s]
    averages = [average_beat(heartbeat, some, recording.rate_hz) for some in windows if len(some)]
    waveforms = [np.interp(GRID_S, beat.times_s, beat.waveform) for beat in averages]
    return Beats(
        np.reshape(waveforms, (-1, len(GRID_S))),
        np.reshape([_intervals_ms(beat) for beat in averages], (-1, len(POINTS))),
    )


def _intervals_ms(beat: AverageBeat) -> list[float]:
    intervals = [find_fiducials(beat).interval_ms(point) for point in POINTS]
    return [np.nan if interval is None else interval for interval in intervals]


def correlate(some: Beats, others: Beats) -> FloatArray:
    """Give the Pearson correlation of every waveform with every other one."""

    def normalize(waveforms: FloatArray) -> FloatArray:
        centered = waveforms - waveforms.mean(axis=1, keepdims=True)
        return centered / np.linalg.norm(centered, axis=1, keepdims=True)

    return normalize(some.waveforms) @ normalize(others.waveforms).T


def correlate_within(beats: Beats) -> FloatArray:
    """Give the correlation of every two waveforms, each pair once."""
    return correlate(beats, beats)[np.triu_indices(len(beats.waveforms), 1)]


def join(groups: list[Beats]) -> Beats:
    return Beats(
        np.concatenate([group.waveforms for group in groups]),
        np.concatenate([group.intervals_ms for group in groups]),
    )


def spread_ms(groups: list[Beats]) -> FloatArray:
    """Give the standard deviation of the intervals within groups, over all groups."""
    return np.sqrt(np.mean([np.nanvar(group.intervals_ms, axis=0) for group in groups], axis=0))


def within_a_session(cohort: int, sampling: Sampling) -> list[float]:
    beats = wear(0, cohort, 0, sampling.windows, "prototype")
    correlations = correlate_within(beats)
    return [correlations.mean(), correlations.std(), *spread_ms([beats])]


def between_sessions(cohort: int, sampling: Sampling) -> list[float]:
    groups = [
        join([wear(person, cohort, time, 1, "prototype") for time in range(sampling.remounts)])
        for person in range(sampling.remounted)
    ]
    correlations = np.concatenate([correlate_within(group) for group in groups])
    return [correlations.mean(), correlations.std(), *spread_ms(groups)]


def between_people(everybody: list[Beats]) -> list[float]:
    pairs = combinations(everybody, 2)
    correlations = np.concatenate([correlate(one, other).ravel() for one, other in pairs])
    return [correlations.mean(), correlations.std(), *spread_ms([join(everybody)])]


def between_devices(ours: list[Beats], theirs: list[Beats]) -> list[float]:
    pairs = zip(ours, theirs, strict=True)
    correlations = np.concatenate([correlate(one, other).ravel() for one, other in pairs])
    return [correlations.mean(), correlations.std(), *spread_ms([join([*ours, *theirs])])]


def amplitude(everybody: list[Beats]) -> float:
    """Give the mean height of J, whichever way it points."""
    j = int(np.abs(GRID_S).argmin())
    return float(np.mean([np.abs(beats.waveforms[:, j]).mean() for beats in everybody]))


def noise(cohort: int) -> float:
    """Give the standard deviation of what an earphone on a table records."""
    scene = Scene(duration_s=110.0, removed_at_s=0.0)
    samples = simulate(draw_person(0, seed=cohort), scene).recording.samples
    return float(samples[:, 1000:].std(axis=1).mean())


def survey(cohort: int, sampling: Sampling) -> list[float]:
    """Give all figures of one cohort, in the order of ``FIGURES``."""
    few = sampling.windows_each
    everybody = [wear(one, cohort, 0, few, "prototype") for one in range(sampling.people)]
    theirs = [wear(one, cohort, 0, few, "airpods") for one in range(sampling.on_two_devices)]
    return [
        *within_a_session(cohort, sampling),
        *between_sessions(cohort, sampling),
        *between_people(everybody),
        *between_devices(everybody[: sampling.on_two_devices], theirs),
        amplitude(everybody),
        noise(cohort),
    ]


def table(surveys: list[list[float]]) -> list[dict[str, object]]:
    """Set paper and simulator side by side."""
    rows: list[dict[str, object]] = []
    for figure, values in zip(FIGURES, np.array(surveys).T, strict=True):
        ours = float(np.median(values))
        held = abs(ours - figure.paper) <= figure.tolerance
        rows.append(
            {
                "figure": figure.name,
                "paper": figure.paper,
                "ours": round(ours, 4),
                "lowest": round(float(values.min()), 4),
                "highest": round(float(values.max()), 4),
                "tolerance": round(figure.tolerance, 4),
                "verdict": "PASS" if held else "GIVES",
            }
        )
    return rows


def live_through(person: int) -> int:
    return len(simulate(draw_person(person), Scene(duration_s=960.0)).recording)


def hurry(pool: ProcessPoolExecutor) -> float:
    """Give the seconds for 33 people of 16 minutes each, on two cores."""
    start = time.perf_counter()
    assert sum(pool.map(live_through, range(33))) == 33 * 96000
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulator", description=__doc__)
    parser.add_argument("--cohorts", type=int, default=COHORTS)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    with ProcessPoolExecutor(2) as pool:
        took_s = hurry(pool)
        cohorts = range(chosen.cohorts)
        rows = table(list(pool.map(survey, cohorts, [Sampling()] * chosen.cohorts)))
    print(f"{'':40}{'paper':>8}{'ours':>9}{'cohorts from .. to':>20}{'may differ':>12}")
    for row in rows:
        span = f"{row['lowest']:.3f} .. {row['highest']:.3f}"
        print(
            f"{row['figure']:40}{row['paper']:8.3f}{row['ours']:9.3f}{span:>20}"
            f"{row['tolerance']:12.3f}  {row['verdict']}"
        )
    cores = os.cpu_count()
    print(f"33 people x 16 minutes: {took_s:.1f} s on 2 of {cores} cores (aim: {TARGET_S:.0f} s)")
    if chosen.json:
        report = {"cohorts": chosen.cohorts, "figures": rows, "seconds": round(took_s, 2)}
        chosen.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
