"""Files by name, in a folder or in a zip archive, and the small files beside a recording."""

import csv
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO, StringIO
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
class TreeFile:
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

    def beside(self, name: str, *, levels_up: int = 0) -> "TreeFile | None":
        """Give a file of the same folder, or of one so many levels up; nothing if not there."""
        parts = PurePosixPath(self.name).parts[: -1 - levels_up]
        other = TreeFile(self.tree, PurePosixPath(*parts, name).as_posix())
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


BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06")
"""A zip with files in it, and an empty one."""
_LARGEST_ARCHIVE = 2**35
_MOST_FILES = 200_000
_LARGEST_RATIO = 200
"""Text of real recordings shrinks 4 to 6 times; deflate can hide 1000 times its size."""
_SMALL = 2**20
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)


@dataclass(frozen=True)
class Archive:
    """The files in a zip, judged by their declared sizes before any is inflated."""

    path: Path
    data: bytes | None = field(default=None, repr=False)
    """The bytes of the zip, where it lies in another one."""

    def __getstate__(self) -> dict[str, object]:
        return {"path": self.path, "data": self.data}  # an open file does not travel to a worker

    @property
    def root(self) -> str:
        return str(self.path)

    @cached_property
    def names(self) -> tuple[str, ...]:
        members = self._zip.infolist()
        for member in members:
            _check_name(member.filename)
        if len(members) > _MOST_FILES or sum(m.file_size for m in members) > _LARGEST_ARCHIVE:
            raise UnreadableError(
                f"{self.path} would grow to {sum(m.file_size for m in members):.2g} bytes in "
                f"{len(members)} files; at most {_LARGEST_ARCHIVE:.2g} in {_MOST_FILES} are read"
            )
        return tuple(sorted(member.filename for member in members if not _is_aside(member)))

    def has(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def read(self, name: str) -> bytes:
        if name not in self.names:
            raise UnreadableError(f"{self.path} holds no file '{name}'")
        _check_size(self._zip.getinfo(name))
        return self._inflate(name, -1)

    def peek(self, name: str) -> bytes:
        return self._inflate(name, PEEKED)

    def _inflate(self, name: str, at_most: int) -> bytes:
        try:
            with self._zip.open(name) as file:
                return file.read(at_most)
        except _DAMAGED as error:
            raise UnreadableError(f"'{name}' in {self.path} is damaged: {error}") from error

    @cached_property
    def _zip(self) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(self.path if self.data is None else BytesIO(self.data))
        except PermissionError as error:
            raise UnreadableError(f"{self.path} cannot be read: {error.strerror}") from error
        except (*_DAMAGED, ValueError) as error:
            raise UnreadableError(
                f"{self.path} is a zip archive that is cut off or damaged; get it again"
            ) from error


def _check_size(member: zipfile.ZipInfo) -> None:
    packed = max(member.compress_size, 1)
    if member.file_size > LARGEST_FILE:
        raise UnreadableError(
            f"'{member.filename}' would grow to {member.file_size:.2g} bytes; "
            f"at most {LARGEST_FILE:.2g} are read at once"
        )
    if member.file_size > _SMALL and member.file_size / packed > _LARGEST_RATIO:
        raise UnreadableError(
            f"'{member.filename}' would grow {member.file_size / packed:.0f} times when unpacked; "
            f"no recording does so more than {_LARGEST_RATIO} times"
        )


def _check_name(name: str) -> None:
    parts = re.split(r"[/\\]", name)
    if ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0]:
        raise UnreadableError(f"the archive names a file '{name}', which leads out of its folder")


def _is_aside(member: zipfile.ZipInfo) -> bool:
    """Whether a member is a folder, or what a Mac adds."""
    hidden = any(part.startswith(".") for part in member.filename.split("/"))
    return member.is_dir() or hidden or member.filename.startswith("__MACOSX/")


def read_section(item: TreeFile | None, section: str) -> dict[str, str]:
    """Give the facts of one section of a JSON file, as text and by lower-case name."""
    try:
        content = json.loads(item.read()) if item else None
    except (ValueError, RecursionError):
        return {}
    facts = content.get(section) if isinstance(content, dict) else None
    return _as_texts(facts) if isinstance(facts, dict) else {}


def read_rows(item: TreeFile | None) -> list[dict[str, str]]:
    """Give the rows of a table, as text and by lower-case column name."""
    if item is None:
        return []
    text = item.read().decode(errors="replace").lstrip("\ufeff")
    try:
        return [_as_texts(row) for row in csv.DictReader(StringIO(text, newline=""))]
    except csv.Error:
        return []


def _as_texts(facts: Mapping[str, object]) -> dict[str, str]:
    return {str(key).lower(): str(value) for key, value in facts.items() if value not in (None, "")}
