"""Where people to learn from come from: a data set on disk, or the simulator."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from acclock.errors import ConfigError, UnreadableError
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.rates import RECORDED_HZ, bring_to
from acclock.values import Recording
from acclock.world.files import load_all, open_dataset

MOST_SESSIONS = 12
"""Of one person; who was recorded more often is thinned out evenly."""
_SIMULATED = "simulated:"
_SIMULATED_SESSIONS = 4
_SIMULATED_S = 80.0
_LICENSES = {"MSCardio": "MIT", "ClassyGlass": "CC BY 4.0", "MuSe": "MIT"}

OnProgress = Callable[[str, int, int], object]
"""Hears what is being done, how much of it is, and of how much."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Place:
    """The recordings of one data set, those of each person together and the oldest first."""

    name: str
    license: str
    recordings: list[Recording]


def open_place(place: str, *, rate_hz: float, on_progress: OnProgress) -> Place:
    """Read a data set, or draw as many people as ``simulated:PEOPLE`` says."""
    if place.startswith(_SIMULATED):
        people = place.removeprefix(_SIMULATED)
        if not people.isdecimal() or not int(people):
            raise ConfigError(f"{place!r} does not say how many people, as in 'simulated:30'")
        drawn = _simulate(int(people), rate_hz, on_progress)
        return Place(name="simulated", license="generated", recordings=drawn)
    dataset = open_dataset(place)
    loaded = load_all(
        dataset,
        rate_hz=max(rate_hz, RECORDED_HZ),
        on_progress=_say(on_progress, f"reading {dataset.name}"),
    )
    recordings = [one.recording for one in loaded if one.recording is not None]
    named = [bring_to(recording, rate_hz) for recording in recordings if recording.person]
    if not named:
        raise UnreadableError(f"no recording in {place} says whose it is")
    return Place(
        name=dataset.name,
        license=_LICENSES.get(dataset.name, "license not stated"),
        recordings=_thin_out(named),
    )


def _say(on_progress: OnProgress, what: str) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        on_progress(what, done, total)

    return tell


def _simulate(people: int, rate_hz: float, on_progress: OnProgress) -> list[Recording]:
    recordings = []
    for index in range(people):
        person = draw_person(index)
        for session in range(_SIMULATED_SESSIONS):
            scene = Scene(duration_s=_SIMULATED_S, session=session)
            recordings.append(bring_to(simulate(person, scene).recording, rate_hz))
        on_progress("simulating", index + 1, people)
    return recordings


def _thin_out(recordings: Iterable[Recording]) -> list[Recording]:
    """Keep so many of each person's recordings, evenly spread from the first to the last."""
    kept: list[Recording] = []
    for _, group in groupby(sorted(recordings, key=_by_person_and_time), key=person_of):
        whole = list(group)
        count = min(len(whole), MOST_SESSIONS)
        kept += [whole[n] for n in np.linspace(0, len(whole) - 1, count).round().astype(int)]
    return kept


def person_of(recording: Recording) -> str:
    """Give whose recording it is; nobody is nameless in a place."""
    return recording.person or ""


def _by_person_and_time(recording: Recording) -> tuple[str, str, str]:
    start = recording.start.isoformat() if recording.start else ""
    return person_of(recording), start, recording.session or ""
