"""Where a recording lies: a file, a file in a zip, or the only one in a folder or zip."""

from pathlib import Path, PurePosixPath

from acclock.errors import UnreadableError
from acclock.world.files.archives import BEGINNINGS, Archive
from acclock.world.files.formats import own
from acclock.world.files.layouts import find_layout
from acclock.world.files.recognition import looks_like_recording
from acclock.world.files.trees import Folder, Item, Tree, read_file

_IN_ARCHIVE = "::"
_BEST_FIRST = ("headphone", "accelerometer", "totalacceleration")


def locate(path: Path | str) -> Item:
    """Find the one recording that a path speaks of; ``archive.zip::inner/path`` is one in a zip."""
    if names_inner(path):
        outer, _, inner = str(path).partition(_IN_ARCHIVE)
        _check_exists(Path(outer))
        return Item(Folder(Path(outer)) if Path(outer).is_dir() else Archive(Path(outer)), inner)
    tree = open_tree(path)
    if tree is None:
        whole = Path(path).absolute()
        return Item(Folder(Path(whole.anchor)), whole.relative_to(whole.anchor).as_posix())
    return only_recording(tree)


def names_inner(path: Path | str) -> bool:
    """Whether a path is one inside of an archive or folder: ``outer::inner``."""
    try:
        return _IN_ARCHIVE in str(path) and not Path(path).exists()
    except OSError:
        return True


def only_recording(tree: Tree) -> Item:
    """Give the one recording of a folder or zip; none or many are refused."""
    names = list_recordings(tree)
    if len(names) == 1:
        return Item(tree, names[0])
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
        return tuple(name for name in tree.names if layout.holds(Item(tree, name)))
    best: dict[str, str] = {}
    several: list[str] = []
    for name in tree.names:
        if not _is_recording(Item(tree, name)):
            continue
        place = PurePosixPath(name)
        if place.stem.lower() not in _BEST_FIRST:
            several.append(name)
        elif place.parent.as_posix() not in best or _rank(name) < _rank(best[str(place.parent)]):
            best[place.parent.as_posix()] = name
    exports = set(best)
    others = [n for n in several if PurePosixPath(n).parent.as_posix() not in exports]
    return tuple(sorted([*best.values(), *others]))


def _is_recording(item: Item) -> bool:
    beginning = item.peek()
    if not beginning.startswith(BEGINNINGS):
        return looks_like_recording(beginning)
    try:
        archive = open_archive(item)
        return own.is_own(archive) or len(list_recordings(archive)) == 1
    except UnreadableError:
        return False


def open_archive(item: Item) -> Archive:
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
