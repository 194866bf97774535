"""People to learn from, with their clean windows at hand."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, repeat
from pathlib import Path

from acclock.pipeline import Preparation
from acclock.training.grid import Grid, lay_grid, name_grid, pack_grid, unpack_grid
from acclock.training.subjects import Session, Subject
from acclock.values import Recording
from acclock.world.places import OnProgress, Place, open_place, person_of
from acclock.world.processes import processes
from acclock.world.replacing import replacing


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
        opened = open_place(place, rate_hz=preparation.rate_hz, on_progress=on_progress)
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


def _group(place: Place, grids: list[Grid]) -> list[Subject]:
    sessions = [
        Session(recording=recording, grid=grid)
        for recording, grid in zip(place.recordings, grids, strict=True)
        if len(grid)
    ]
    people = groupby(sessions, key=lambda session: person_of(session.recording))
    return [
        Subject(name=f"{place.name.lower()}/{person}", source=place.name, sessions=tuple(theirs))
        for person, theirs in people
    ]
