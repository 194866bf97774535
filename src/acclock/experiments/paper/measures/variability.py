"""How alike the beats of one person are, and those of different ones, by the paper's sampling."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from acclock.errors import TooFewError
from acclock.experiments.paper.beats import (
    POINTS,
    WINDOW_S,
    Beats,
    correlate,
    correlate_within,
    join,
    look,
    spread_ms,
)
from acclock.experiments.paper.cohorts import gather_members
from acclock.experiments.paper.units import Outcome, Unit
from acclock.simulation import Device, Scene, draw_person, simulate
from acclock.values import FloatArray

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
    return look(simulate(draw_person(person, seed=cohort), scene).recording, edge_s=EDGE_S)


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
        [look(one, axis=_OUT_OF_THE_CHEST) for one in member.recordings] for member in members
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
