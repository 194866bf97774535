"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from acclock.errors import UnwritableError


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
