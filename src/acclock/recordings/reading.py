"""One recording, read from a file, a file in a zip, or the only one in a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np

from acclock.acquisition.clock import check_rate
from acclock.acquisition.even import gaps_of, resample
from acclock.acquisition.units import Unit, infer_scale
from acclock.errors import AccLockError, UnreadableError
from acclock.recordings.formats import own
from acclock.recordings.layouts import find_layout, layout_of
from acclock.recordings.raw import About, Raw, Reading, report, settle
from acclock.recordings.recognition import looks_like_recording, parse
from acclock.recordings.tables import Columns
from acclock.recordings.trees import BEGINNINGS, Archive, Folder, Tree, TreeFile, read_file
from acclock.values import Recording

_IN_ARCHIVE = "::"
_BEST_FIRST = ("headphone", "accelerometer", "totalacceleration")


def locate(path: Path | str) -> TreeFile:
    """Find the one recording that a path speaks of; ``archive.zip::inner/path`` is one in a zip."""
    if names_inner(path):
        outer, _, inner = str(path).partition(_IN_ARCHIVE)
        _check_exists(Path(outer))
        return TreeFile(
            Folder(Path(outer)) if Path(outer).is_dir() else Archive(Path(outer)), inner
        )
    tree = open_tree(path)
    if tree is None:
        whole = Path(path).absolute()
        return TreeFile(Folder(Path(whole.anchor)), whole.relative_to(whole.anchor).as_posix())
    return only_recording(tree)


def names_inner(path: Path | str) -> bool:
    """Whether a path is one inside of an archive or folder: ``outer::inner``."""
    try:
        return _IN_ARCHIVE in str(path) and not Path(path).exists()
    except OSError:
        return True


def only_recording(tree: Tree) -> TreeFile:
    """Give the one recording of a folder or zip; none or many are refused."""
    names = list_recordings(tree)
    if len(names) == 1:
        return TreeFile(tree, names[0])
    if not names:
        raise UnreadableError(f"no recording was found in {tree.root}")
    raise UnreadableError(
        f"{tree.root} holds {len(names)} recordings; open it as a data set, or name one of them, "
        f"such as {_name_one(tree, names[0])}"
    )


def open_tree(path: Path | str) -> Tree | None:
    """Open a folder, or a zip that is not itself a recording; nothing for a single file."""
    path = Path(path)
    _check_exists(path)
    if path.is_dir():
        return Folder(path)
    if not path.is_file():
        raise UnreadableError(f"{path} is neither a file nor a folder")
    if not read_file(path, at_most=4).startswith(BEGINNINGS):
        return None
    archive = Archive(path)
    return None if own.is_own(archive) else archive


def list_recordings(tree: Tree) -> tuple[str, ...]:
    """Name the recordings in a tree: those of a known data set, or all that look like one.

    Of an export that holds several sensors of one moment only the best is named.
    """
    layout = find_layout(tree)
    if layout is not None:
        return tuple(name for name in tree.names if layout.holds(TreeFile(tree, name)))
    best: dict[str, str] = {}
    several: list[str] = []
    for name in tree.names:
        if not _is_recording(TreeFile(tree, name)):
            continue
        place = PurePosixPath(name)
        if place.stem.lower() not in _BEST_FIRST:
            several.append(name)
        elif place.parent.as_posix() not in best or _rank(name) < _rank(best[str(place.parent)]):
            best[place.parent.as_posix()] = name
    exports = set(best)
    others = [n for n in several if PurePosixPath(n).parent.as_posix() not in exports]
    return tuple(sorted([*best.values(), *others]))


def _is_recording(item: TreeFile) -> bool:
    beginning = item.peek()
    if not beginning.startswith(BEGINNINGS):
        return looks_like_recording(beginning)
    try:
        archive = open_archive(item)
        return own.is_own(archive) or len(list_recordings(archive)) == 1
    except UnreadableError:
        return False


def open_archive(item: TreeFile) -> Archive:
    """Open a zip that is an item of a tree; it is read whole only where it lies in another zip."""
    if isinstance(item.tree, Folder):
        return Archive(item.tree.path / item.name)
    return Archive(Path(item.path), item.read())


def _rank(name: str) -> int:
    return _BEST_FIRST.index(PurePosixPath(name).stem.lower())


def _name_one(tree: Tree, name: str) -> str:
    divider = _IN_ARCHIVE if isinstance(tree, Archive) else "/"
    return f"'{tree.root}{divider}{name}'"


def _check_exists(path: Path) -> None:
    try:
        there = path.exists()
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror}") from error
    if not there:
        raise UnreadableError(f"{path} does not exist")


def read(
    path: Path | str,
    *,
    rate_hz: float | None = None,
    unit: Unit | None = None,
    columns: Columns | None = None,
) -> Recording:
    """Read one recording: a file, ``archive.zip::inner/path``, or a folder or zip that holds one.

    ``rate_hz`` resamples; ``unit`` and ``columns`` win over what would be detected.
    """
    return inspect(path, rate_hz=rate_hz, unit=unit, columns=columns).recording


def inspect(
    path: Path | str,
    *,
    rate_hz: float | None = None,
    unit: Unit | None = None,
    columns: Columns | None = None,
) -> Reading:
    """Read one recording and say how: format, unit, gravity, rate, gaps."""
    with _naming(str(path)):
        return _inspect(locate(path), rate_hz, unit, columns)


def inspect_entry(item: TreeFile, about: About, rate_hz: float | None = None) -> Reading:
    """Read one file of a data set, of which it is known who and what it is about."""
    with _naming(item.name):
        return _inspect(item, rate_hz, about=about)


def _inspect(
    item: TreeFile,
    rate_hz: float | None = None,
    unit: Unit | None = None,
    columns: Columns | None = None,
    about: About | None = None,
) -> Reading:
    if rate_hz is not None:
        check_rate(rate_hz)
    # damaged files hold numbers of any size: they are judged afterwards, not while they are read
    with np.errstate(all="ignore"):
        data = item.read()
        if data.startswith(BEGINNINGS):
            return _inspect_archive(Archive(Path(item.path), data), rate_hz, unit, columns)
        raw = _count_time(parse(item, data, columns or Columns()), columns)
        layout = layout_of(item)
        if layout is not None:
            raw = replace(raw, format=layout.format)
            about = about or layout.describe(item)
        return settle(raw, about or About(), rate_hz, unit)


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """Begin every refusal with the name of the file that it is about."""
    try:
        yield
    except AccLockError as error:
        if not any(str(error).startswith(name) for name in (place, f"'{place}'")):
            error.args = (f"{place}: {error}",)
        raise


def _inspect_archive(
    archive: Archive, rate_hz: float | None, unit: Unit | None, columns: Columns | None
) -> Reading:
    if not own.is_own(archive):
        return _inspect(only_recording(archive), rate_hz, unit, columns)
    recording = own.read_own(archive)
    known = recording.samples[:, recording.received]
    scale = infer_scale(known, override=unit, stated="m/s²", source="format")
    if scale.factor != 1.0:
        recording = replace(recording, samples=recording.samples * scale.factor)
    gaps = gaps_of(recording)
    native_rate_hz = recording.native_rate_hz
    if rate_hz is not None:
        recording = resample(recording, rate_hz)
    return report(recording, own.FORMAT, scale, native_rate_hz, gaps)


def _count_time(raw: Raw, columns: Columns | None) -> Raw:
    """Put the caller's sampling rate in the place of a clock that it overrules."""
    if columns is None or columns.sampled_hz in (None, raw.native_rate_hz):
        return raw
    stamps_s = np.arange(raw.samples.shape[1]) / columns.sampled_hz
    return replace(raw, stamps_s=stamps_s, native_rate_hz=columns.sampled_hz)
