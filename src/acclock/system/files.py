"""Files that are written whole or not at all, and files that only their owner reads."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from acclock.errors import AccLockError, UnwritableError, VaultError


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write to that takes the name ``path`` only when all went well.

    Whoever reads ``path`` meanwhile, or after a crash, finds what was there before.
    """
    try:
        handle, hidden = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise UnwritableError(f"cannot write {path}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(hidden).chmod(0o644)
        Path(hidden).replace(path)
    except OSError as error:
        raise UnwritableError(f"cannot write {path}: {error.strerror}") from error
    finally:
        Path(hidden).unlink(missing_ok=True)


@contextmanager
def hidden_path(path: Path, *, within: Path | None = None) -> Iterator[Path]:
    """Give another path of the same name, in a hidden folder that is gone afterwards.

    The folder is beside ``path``, or ``within`` another one. Refusals name ``path``: whoever reads
    them does not know the hidden one, and could not find it.
    """
    folder = path.parent if within is None else within
    try:
        with (
            tempfile.TemporaryDirectory(dir=folder, prefix=f".{path.name}.") as hidden,
            renaming(Path(hidden), path),  # what lies beside it
            renaming(Path(hidden, path.name), path),
        ):
            yield Path(hidden, path.name)
    except OSError as error:
        raise UnwritableError(f"cannot write {within or path}: {error.strerror}") from error


@contextmanager
def renaming(hidden: Path, shown: Path) -> Iterator[None]:
    """Let refusals speak of a path by the name that others know."""
    try:
        yield
    except AccLockError as error:
        error.args = (str(error).replace(str(hidden), str(shown)),)
        raise


def write_private(path: Path, content: bytes) -> None:
    """Replace a file by another that is on the disk, and readable by its owner alone."""
    try:
        handle, hidden = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except OSError as error:
        raise VaultError(f"cannot write {path}: {error.strerror}") from error
    put_in_place(Path(hidden), path)


def put_in_place(hidden: Path, path: Path) -> None:
    """Give a finished file the name that others know, once it is on the disk."""
    try:
        hidden.chmod(0o600)
        _sync(hidden, os.O_RDWR)
        hidden.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise VaultError(f"cannot write {path}: {error.strerror}") from error
    finally:
        hidden.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk as well as the files."""
    if os.name == "posix":
        _sync(folder, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner enters, unless there is one."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise VaultError(f"cannot make the folder {folder}: {error.strerror}") from error


def open_to_others(path: Path) -> bool:
    """Tell whether anybody but the owner may read or write a file."""
    return os.name == "posix" and bool(path.stat().st_mode & 0o077)
