"""Files that only their owner reads, written so that a crash leaves the old or the new one."""

import os
import tempfile
from pathlib import Path

from acclock.errors import VaultError


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
