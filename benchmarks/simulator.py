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
from pathlib import Path

import numpy as np

from acclock.experiments.paper.measures.variability import (
    GRID_S,
    Beats,
    Sampling,
    compare,
    spread_ms,
    wear,
)
from acclock.experiments.paper.studies.lasting import VARIABILITY
from acclock.experiments.paper.variants import Variant
from acclock.simulation import Scene, draw_person, simulate

COHORTS = 5
TARGET_S = 20.0
"""For 33 people of 16 minutes, on two cores: printed, never a failure."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of the paper, and how far from it the simulator may lie."""

    name: str
    paper: float
    tolerance: float


def _setting(variant: Variant) -> list[Figure]:
    mean, spread, *intervals_ms = variant.paper.items()
    return [
        Figure(f"{variant.name}: {mean[0]}", mean[1], 0.05),
        Figure(f"{variant.name}: {spread[0]}", spread[1], 0.08),
        *(Figure(f"{variant.name}: {name}", value, 0.25 * value) for name, value in intervals_ms),
    ]


SETTINGS = [variant.name for variant in VARIABILITY.variants]
FIGURES = [
    *(figure for variant in VARIABILITY.variants for figure in _setting(variant)),
    Figure("J amplitude in m/s²", 0.483, 0.05),
    Figure("noise on a table in m/s²", 0.041, 0.004),
]
"""Tables 1 and 2 and Sec. 2.1 of the paper."""


def within(setting: str, cohort: int, sampling: Sampling) -> list[float]:
    """Give the five figures of one of the paper's settings."""
    correlations, groups = compare(setting, cohort, sampling)
    return [correlations.mean(), correlations.std(), *spread_ms(groups)]


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
    figures = [figure for setting in SETTINGS for figure in within(setting, cohort, sampling)]
    return [*figures, amplitude(everybody), noise(cohort)]


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
