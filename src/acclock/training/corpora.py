"""People to learn from, of a data set or the simulator, with their clean windows."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, repeat
from pathlib import Path

import numpy as np

from acclock.errors import ConfigError, UnreadableError
from acclock.pipeline import Preparation
from acclock.recordings import load_all, open_dataset
from acclock.simulation import Scene, draw_person, simulate
from acclock.system.files import replacing
from acclock.system.processes import processes
from acclock.training.grid import (
    RECORDED_HZ,
    Grid,
    bring_to,
    lay_grid,
    name_grid,
    pack_grid,
    unpack_grid,
)
from acclock.training.subjects import Subject, SubjectSession
from acclock.values import Recording

MOST_SESSIONS = 12
"""Of one person; who was recorded more often is thinned out evenly."""
_SIMULATED = "simulated:"
_SIMULATED_SESSIONS = 4
_SIMULATED_S = 80.0
_LICENSES = {"MSCardio": "MIT", "ClassyGlass": "CC BY 4.0", "MuSe": "MIT"}

OnProgress = Callable[[str, int, int], object]
"""Hears what is being done, how much of it is, and of how much."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DatasetRecordings:
    """The recordings of one data set, those of each person together and the oldest first."""

    name: str
    license: str
    recordings: list[Recording]


def open_recordings(place: str, *, rate_hz: float, on_progress: OnProgress) -> DatasetRecordings:
    """Read a data set, or draw as many people as ``simulated:PEOPLE`` says."""
    if place.startswith(_SIMULATED):
        people = place.removeprefix(_SIMULATED)
        if not people.isdecimal() or not int(people):
            raise ConfigError(f"{place!r} does not say how many people, as in 'simulated:30'")
        drawn = _simulate(int(people), rate_hz, on_progress)
        return DatasetRecordings(name="simulated", license="generated", recordings=drawn)
    dataset = open_dataset(place)
    loaded = load_all(
        dataset,
        rate_hz=max(rate_hz, RECORDED_HZ),
        on_progress=_make_reporter(on_progress, f"reading {dataset.name}"),
    )
    recordings = [one.recording for one in loaded if one.recording is not None]
    named = [bring_to(recording, rate_hz) for recording in recordings if recording.person]
    if not named:
        raise UnreadableError(f"no recording in {place} says whose it is")
    return DatasetRecordings(
        name=dataset.name,
        license=_LICENSES.get(dataset.name, "license not stated"),
        recordings=_thin_out(named),
    )


def _make_reporter(on_progress: OnProgress, what: str) -> Callable[[int, int], None]:
    def report(done: int, total: int) -> None:
        on_progress(what, done, total)

    return report


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corpus:
    """Everyone that was found, and under which license the data set of each is."""

    subjects: tuple[Subject, ...]
    licenses: Mapping[str, str]

    def credit(self, subjects: Iterable[Subject]) -> tuple[str, ...]:
        """Give a line for each data set that some people come from."""
        counted = Counter(subject.source for subject in subjects)
        return tuple(
            f"{source}, {count} people, {self.licenses[source]}"
            for source, count in sorted(counted.items())
        )


def gather(
    places: Sequence[str],
    preparation: Preparation,
    *,
    cache: Path,
    workers: int | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> Corpus:
    """Read data sets and draw ``simulated:PEOPLE``, and prepare everybody's clean windows.

    The windows are kept in the folder ``cache``, under names that change with what they hold.
    """
    cache.mkdir(parents=True, exist_ok=True)
    subjects: list[Subject] = []
    licenses = {}
    for place in dict.fromkeys(places):
        opened = open_recordings(place, rate_hz=preparation.rate_hz, on_progress=on_progress)
        grids = list(_lay_grids(opened.recordings, preparation, cache, workers, on_progress))
        subjects += _group(opened, grids)
        licenses[opened.name] = opened.license
    return Corpus(subjects=tuple(subjects), licenses=licenses)


def _lay_grids(
    recordings: list[Recording],
    preparation: Preparation,
    cache: Path,
    workers: int | None,
    on_progress: OnProgress,
) -> Iterator[Grid]:
    files = [cache / f"{name_grid(recording, preparation)}.npz" for recording in recordings]
    missing = [n for n, file in enumerate(files) if not file.is_file()]
    count = min(workers or os.cpu_count() or 1, max(len(missing), 1))
    with processes(count) as pool:
        laid = pool.map(_lay, [recordings[n] for n in missing], repeat(preparation))
        for done, (n, packed) in enumerate(zip(missing, laid, strict=True)):
            with replacing(files[n]) as file:
                file.write(packed)
            on_progress("preparing windows", done + 1, len(missing))
    yield from (unpack_grid(file.read_bytes()) for file in files)


def _lay(recording: Recording, preparation: Preparation) -> bytes:
    return pack_grid(lay_grid(recording, preparation))


def _group(place: DatasetRecordings, grids: list[Grid]) -> list[Subject]:
    sessions = [
        SubjectSession(recording=recording, grid=grid)
        for recording, grid in zip(place.recordings, grids, strict=True)
        if len(grid)
    ]
    people = groupby(sessions, key=lambda session: person_of(session.recording))
    return [
        Subject(name=f"{place.name.lower()}/{person}", source=place.name, sessions=tuple(theirs))
        for person, theirs in people
    ]
