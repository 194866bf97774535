"""Files by name, in a folder or elsewhere, and their bytes when asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Protocol

from acclock.errors import UnreadableError

LARGEST_FILE = 2**30
"""A gigabyte holds two days of 100 Hz as text."""
PEEKED = 2**16
"""Enough bytes to see what a file is."""


class Tree(Protocol):
    """Files by name, the parts of which are divided by slashes."""

    @property
    def root(self) -> str: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    def has(self, name: str) -> bool: ...
    def read(self, name: str) -> bytes: ...
    def peek(self, name: str) -> bytes: ...


@dataclass(frozen=True)
class Folder:
    """The files below a folder. Nothing outside of it is read, whatever a link says."""

    path: Path

    @property
    def root(self) -> str:
        return str(self.path)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._walk()))

    def has(self, name: str) -> bool:
        return (self.path / name).is_file()

    def read(self, name: str) -> bytes:
        return read_file(self._find(name))

    def peek(self, name: str) -> bytes:
        return read_file(self._find(name), at_most=PEEKED)

    def _walk(self) -> Iterator[str]:
        try:
            for path in self.path.rglob("*"):
                hidden = any(part.startswith(".") for part in path.relative_to(self.path).parts)
                if not hidden and path.is_file() and self._holds(path):
                    yield path.relative_to(self.path).as_posix()
        except OSError as error:
            raise UnreadableError(f"{self.path} cannot be listed: {error.strerror}") from error

    def _find(self, name: str) -> Path:
        path = self.path / name
        if not self._holds(path):
            raise UnreadableError(f"'{name}' leads out of {self.path}; only what is in it is read")
        return path

    def _holds(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self.path.resolve())


@dataclass(frozen=True)
class Item:
    """One file in a tree, with what lies beside it."""

    tree: Tree
    name: str

    @property
    def path(self) -> str:
        """The whole path, for reading off people and sessions; the root's own names included."""
        return f"{self.tree.root.rstrip('/')}/{self.name}"

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    def read(self) -> bytes:
        return self.tree.read(self.name)

    def peek(self) -> bytes:
        """Give the first bytes: enough to see what it is."""
        return self.tree.peek(self.name)

    def beside(self, name: str, *, levels_up: int = 0) -> "Item | None":
        """Give a file of the same folder, or of one so many levels up; nothing if not there."""
        parts = PurePosixPath(self.name).parts[: -1 - levels_up]
        other = Item(self.tree, PurePosixPath(*parts, name).as_posix())
        enough = len(PurePosixPath(self.name).parts) > levels_up
        return other if enough and other.tree.has(other.name) else None


def read_file(path: Path, at_most: int = -1) -> bytes:
    """Give the bytes of a file, or its first ones, or say in a sentence why not."""
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE and at_most < 0:
            raise UnreadableError(
                f"{path} has {size:.2g} bytes; at most {LARGEST_FILE:.2g} are read at once"
            )
        with path.open("rb") as file:
            return file.read(at_most)
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror}") from error
