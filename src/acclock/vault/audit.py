"""What happened to a vault, as a chain in which no link can be changed."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from acclock.errors import DamagedVaultError, VaultError
from acclock.vault.sealing import same, sign

GENESIS = "0" * 64
"""The mark before the first event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One thing that happened. People appear by number: no name, nothing biometric."""

    number: int
    time: datetime
    kind: str
    person: str | None = None
    version: int | None = None
    note: str | None = None

    def as_dict(self) -> dict[str, object]:
        """Give the event as plain values, for JSON."""
        return {
            "number": self.number,
            "time": self.time.isoformat(),
            "kind": self.kind,
            "person": self.person,
            "version": self.version,
            "note": self.note,
        }

    def as_text(self) -> str:
        """Give the one way to write it down."""
        return json.dumps(self.as_dict(), separators=(",", ":"), sort_keys=True)


def link(key: bytes, before: str, body: str) -> str:
    """Give the mark of an event that follows another."""
    return sign(key, "event", before, body)


def parse_event(body: object) -> AuditRecord:
    """Read an event that was written down."""
    try:
        kept = json.loads(body)  # type: ignore[arg-type]  # what is no text is refused below
        return AuditRecord(**kept | {"time": datetime.fromisoformat(kept["time"])})
    except (ValueError, TypeError, KeyError) as error:
        raise DamagedVaultError("an event in the log of the vault is damaged") from error


def walk(
    key: bytes,
    rows: Iterable[tuple[object, object, object]],
    *,
    after: int = 0,
    head: str = GENESIS,
) -> tuple[list[AuditRecord], str]:
    """Follow the chain from its beginning; give its events and its last mark, or refuse.

    Each row is a number, the event as text, and its mark. Who has followed it before goes on
    ``after`` that event, whose mark was ``head``.
    """
    read = list[AuditRecord]()
    for number, body, mark in rows:
        expected, next_one = link(key, head, str(body)), after + len(read) + 1
        if number != next_one or not same(mark, expected):
            raise DamagedVaultError(
                f"the log of the vault was changed: event {next_one} does not follow"
            )
        read.append(parse_event(body))
        head = expected
    return read, head


@dataclass(frozen=True, slots=True, kw_only=True)
class LastSeenEvent:
    """The last event that this machine knows of."""

    events: int
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadFile:
    """One line in a file of its own: which vault, how many events, the last mark, a signature."""

    path: Path

    def read(self, vault: str, key: bytes) -> LastSeenEvent | None:
        """Give what was last seen of this vault; nothing when the file is not there."""
        try:
            parts = self.path.read_bytes().decode("ascii", "replace").split()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise VaultError(f"cannot read {self.path}: {error.strerror}") from error
        if len(parts) != 4 or not parts[1].isdecimal():
            raise DamagedVaultError(f"{self.path} is damaged")
        if parts[0] != vault:
            raise DamagedVaultError(f"{self.path} belongs to another vault")
        if not same(parts[3], sign(key, "seen", vault, int(parts[1]), parts[2])):
            raise DamagedVaultError(f"{self.path} was changed by someone without the key")
        return LastSeenEvent(events=int(parts[1]), head=parts[2])

    def tells_of_nothing(self) -> bool:
        """Tell whether it was written before the first event of a vault, which may never be."""
        parts = self.path.read_bytes().decode("ascii", "replace").split()
        return not parts or (len(parts) == 4 and parts[1] == "0" * 12)

    def write(self, vault: str, key: bytes, seen: LastSeenEvent) -> None:
        """Remember this; in one write of always the same length, so that it is never half there.

        It is not waited for: after a power cut the file may be behind the database, which is
        harmless. A database that is behind the file is not.
        """
        mark = sign(key, "seen", vault, seen.events, seen.head)
        line = f"{vault} {seen.events:012d} {seen.head} {mark}\n".encode("ascii")
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600)
            try:
                os.write(handle, line)
            finally:
                os.close(handle)
        except OSError as error:
            raise VaultError(
                f"the change was stored, but {self.path} cannot be written: {error.strerror}"
            ) from error
