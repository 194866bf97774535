"""Many recordings of many people, listed first and read one at a time or by several processes."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from acclock.errors import AccLockError, ConfigError, UnreadableError
from acclock.recordings.formats import own, tabular
from acclock.recordings.layouts import find_layout, layout_of
from acclock.recordings.raw import About, Reading
from acclock.recordings.reading import (
    inspect_entry,
    list_recordings,
    names_inner,
    open_archive,
    open_tree,
)
from acclock.recordings.tables import open_table
from acclock.recordings.trees import BEGINNINGS, Tree, TreeFile
from acclock.values import Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetEntry:
    """One recording of a data set: what is known of it before it is read."""

    name: str
    """The path of its file in the data set."""
    person: str | None
    session: str | None
    day: date | None
    start: datetime | None
    device: str | None
    labels: Mapping[str, str]
    item: TreeFile = field(repr=False)
    about: About = field(repr=False)

    def load(self, rate_hz: float | None = None) -> Recording:
        """Read the recording."""
        return self.inspect(rate_hz).recording

    def inspect(self, rate_hz: float | None = None) -> Reading:
        """Read the recording and say how."""
        return inspect_entry(self.item, self.about, rate_hz)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Recordings in a folder or zip. Iterating describes one after the other and reads none."""

    name: str
    tree: Tree
    names: tuple[str, ...] = field(repr=False)
    """The files that are recordings, in order."""

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[DatasetEntry]:
        return (_describe(TreeFile(self.tree, name)) for name in self.names)

    @property
    def people(self) -> tuple[str, ...]:
        """Everyone who is named, in order of first appearance."""
        return tuple(dict.fromkeys(entry.person for entry in self if entry.person))

    def of(self, people: Iterable[str]) -> "Dataset":
        """Give the part of the data set that is of these people."""
        wanted = frozenset(people)
        known = frozenset(self.people)
        if strangers := wanted - known:
            raise ConfigError(
                f"{self.name} has nobody called {', '.join(sorted(strangers))}; "
                f"of its {len(known)} people some are {', '.join(sorted(known)[:3])}"
            )
        kept = tuple(entry.name for entry in self if entry.person in wanted)
        return replace(self, names=kept)

    def where(self, label: str, values: Iterable[str]) -> "Dataset":
        """Give the part of the data set that carries one of these values under a label."""
        wanted = frozenset(values)
        known = frozenset(entry.labels[label] for entry in self if label in entry.labels)
        if strangers := wanted - known:
            told = ", ".join(sorted(known)) or "nothing"
            raise ConfigError(
                f"{self.name} has no {label} called {', '.join(sorted(strangers))}; it has {told}"
            )
        return replace(self, names=tuple(e.name for e in self if e.labels.get(label) in wanted))


def open_dataset(path: Path | str, *, people: Iterable[str] | None = None) -> Dataset:
    """List the recordings of a folder or zip: MSCardio, ClassyGlass, MuSe, or any that it holds.

    ``people`` keeps only theirs. A path may end in the label and the values to be kept, as in
    ``classyglass.zip#activity=reading,typing``.
    """
    path, label, values = _split(str(path))
    tree = open_tree(path)
    if tree is None:
        raise UnreadableError(f"{path} is one recording; a data set is a folder or a zip of them")
    names = list_recordings(tree)
    if not names:
        raise UnreadableError(f"no recording was found in {path}")
    dataset = Dataset(name=_name(tree, names[0]), tree=tree, names=names)
    part = dataset.where(label, values) if label else dataset
    return part if people is None else part.of(people)


def holds_many(path: Path | str) -> bool:
    """Whether a path is a folder or zip with more than one recording."""
    if names_inner(path):
        return False
    tree = open_tree(path)
    return tree is not None and len(list_recordings(tree)) > 1


def _split(path: str) -> tuple[str, str, list[str]]:
    """Take apart a path and what is to be kept of it; a name may hold the mark itself."""
    place, _, only = path.rpartition("#")
    label, _, values = only.partition("=")
    return (place, label, values.split(",")) if place and values else (path, "", [])


def _name(tree: Tree, first: str) -> str:
    layout = find_layout(tree)
    if layout is not None:
        return layout.name
    table = open_table(tree.peek(first))
    return "MuSe" if table and tabular.is_muse(table.names) else PurePosixPath(tree.root).stem


def _describe(item: TreeFile) -> DatasetEntry:
    about = _find_out(item)
    return DatasetEntry(
        name=item.name,
        person=about.person,
        session=about.session,
        day=about.day,
        start=about.start,
        device=about.device,
        labels=about.labels,
        item=item,
        about=about,
    )


def _find_out(item: TreeFile) -> About:
    layout = layout_of(item)
    if layout is not None:
        return layout.describe(item)
    if item.peek().startswith(BEGINNINGS) and own.is_own(archive := open_archive(item)):
        return own.read_header(archive)[0]
    folders = PurePosixPath(item.name).parts[:-1]
    # the folder of a person, when there are folders; MuSe's own is called Data and is nobody
    person = folders[0] if folders and folders[0] != "Data" else None
    return About(person=person, session=item.stem)


_AT_ONCE = 4
"""Recordings per task: few enough for an even progress, enough to open a zip only now and then."""

_Parts = dict[str, Any]
"""The fields of a recording, as they travel from a worker: its labels cannot leave as they are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Loaded:
    """One entry of a data set with its recording, or with the sentence why there is none."""

    entry: DatasetEntry
    recording: Recording | None = None
    refusal: str | None = None


def load_all(
    dataset: Dataset,
    *,
    rate_hz: float | None = None,
    workers: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Iterator[Loaded]:
    """Read a data set in its order, with as many processes as the machine has cores.

    ``on_progress`` hears how many are done, and of how many.
    """
    entries = list(dataset)
    tasks = [entries[at : at + _AT_ONCE] for at in range(0, len(entries), _AT_ONCE)]
    done = 0
    for task, results in zip(tasks, _run(tasks, rate_hz, workers), strict=True):
        for entry, result in zip(task, results, strict=True):
            done += 1
            if on_progress is not None:
                on_progress(done, len(entries))
            yield _finish(entry, result)


def _run(
    tasks: list[list[DatasetEntry]], rate_hz: float | None, workers: int | None
) -> Iterator[list[_Parts | str]]:
    workers = min(workers or os.cpu_count() or 1, len(tasks))
    if workers <= 1:
        yield from (_load(task, rate_hz) for task in tasks)
        return
    # only who reads many recordings at once should wait for this to load
    from acclock.system.processes import processes

    with processes(workers) as pool:
        yield from pool.map(_load, tasks, [rate_hz] * len(tasks))


def _load(entries: list[DatasetEntry], rate_hz: float | None) -> list[_Parts | str]:
    return [_load_one(entry, rate_hz) for entry in entries]


def _load_one(entry: DatasetEntry, rate_hz: float | None) -> _Parts | str:
    try:
        recording = entry.load(rate_hz)
    except AccLockError as error:
        return str(error)
    parts = {one.name: getattr(recording, one.name) for one in fields(recording)}
    return {**parts, "labels": dict(recording.labels)}


def _finish(entry: DatasetEntry, result: _Parts | str) -> Loaded:
    if isinstance(result, str):
        return Loaded(entry=entry, refusal=result)
    return Loaded(entry=entry, recording=Recording(**result))
