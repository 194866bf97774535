"""Many recordings of many people, listed first and read one at a time."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path, PurePosixPath

from acclock.errors import ConfigError, UnreadableError
from acclock.values import Recording
from acclock.world.files.archives import BEGINNINGS
from acclock.world.files.formats import muse, own
from acclock.world.files.layouts import find_layout, layout_of
from acclock.world.files.places import list_recordings, names_inner, open_archive, open_tree
from acclock.world.files.raw import About
from acclock.world.files.reading import inspect_entry
from acclock.world.files.settling import Reading
from acclock.world.files.tables import open_table
from acclock.world.files.trees import Item, Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One recording of a data set: what is known of it before it is read."""

    name: str
    """The path of its file in the data set."""
    person: str | None
    session: str | None
    day: date | None
    start: datetime | None
    device: str | None
    labels: Mapping[str, str]
    item: Item = field(repr=False)
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

    def __iter__(self) -> Iterator[Entry]:
        return (_describe(Item(self.tree, name)) for name in self.names)

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
    return "MuSe" if table and muse.is_muse(table.names) else PurePosixPath(tree.root).stem


def _describe(item: Item) -> Entry:
    about = _find_out(item)
    return Entry(
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


def _find_out(item: Item) -> About:
    layout = layout_of(item)
    if layout is not None:
        return layout.describe(item)
    if item.peek().startswith(BEGINNINGS) and own.is_own(archive := open_archive(item)):
        return own.read_header(archive)[0]
    folders = PurePosixPath(item.name).parts[:-1]
    # the folder of a person, when there are folders; MuSe's own is called Data and is nobody
    person = folders[0] if folders and folders[0] != "Data" else None
    return About(person=person, session=item.stem)
