"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from acclock.errors import AccLockError, UnwritableError


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
