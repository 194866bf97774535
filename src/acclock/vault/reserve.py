"""Room on the disk that is kept for deleting people: that must work when the disk is full."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sqlalchemy import Engine, func, select

from acclock.vault.database import reading
from acclock.vault.schema import recordings, templates

_LEAST_BYTES = 512 * 1024
"""SQLite's log and its index for a change of some pages."""
_PIECE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Reserve:
    """A file without content beside an SQLite database. Another database looks after itself."""

    path: Path | None

    @classmethod
    def of(cls, engine: Engine) -> Self:
        """Give the reserve of a database."""
        kept = engine.dialect.name == "sqlite" and engine.url.database is not None
        return cls(Path(str(engine.url.database)).with_name("vault.reserve") if kept else None)

    @property
    def is_full(self) -> bool:
        """Whether there is room for a change, as far as one can tell without the database."""
        try:
            return self.path is None or self.path.stat().st_size >= _LEAST_BYTES
        except OSError:
            return False

    def release(self) -> bool:
        """Give the room back; tell whether there was any."""
        try:
            if self.path is not None:
                self.path.unlink()
                return True
        except OSError:
            pass
        return False

    def refill(self, content_bytes: int = 0) -> None:
        """Keep room to erase so much content, or as much as the disk still has; nothing fails."""
        if self.path is None:
            return
        wanted = _LEAST_BYTES + content_bytes * 5 // 4  # pages are not filled to the last byte
        # Path.open takes no opener
        with suppress(OSError), open(self.path, "ab", 0, opener=_open_private) as file:
            while (missing := wanted - file.tell()) > 0:
                file.write(bytes(min(missing, _PIECE_BYTES)))

    @contextmanager
    def lent(self, engine: Engine) -> Iterator[None]:
        """Let somebody be deleted in the room that was kept, and take it back afterwards."""
        self.release()
        try:
            yield
        finally:
            self.refill(largest_content(engine))


def largest_content(engine: Engine) -> int:
    """Give how many bytes are stored about the person of whom there are most."""
    with reading(engine) as connection:
        return sum(
            connection.execute(
                select(func.sum(func.length(table.c.sealed)).label("bytes"))
                .group_by(table.c.person)
                .order_by(func.sum(func.length(table.c.sealed)).desc())
                .limit(1)
            ).scalar()
            or 0
            for table in (templates, recordings)
        )


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
