"""Zip archives, read without trust: nothing in them may grow beyond measure or lead outside."""

import re
import zipfile
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path

from acclock.errors import UnreadableError
from acclock.world.files.trees import LARGEST_FILE, PEEKED

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
