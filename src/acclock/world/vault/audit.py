"""What happened to a vault, as a chain in which no link can be changed, dropped or cut off."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from acclock.errors import DamagedVaultError
from acclock.world.vault.sealing import same, sign

GENESIS = "0" * 64
"""The mark before the first event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
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


def parse_event(body: object) -> Event:
    """Read an event that was written down."""
    try:
        kept = json.loads(body)  # type: ignore[arg-type]  # what is no text is refused below
        return Event(**kept | {"time": datetime.fromisoformat(kept["time"])})
    except (ValueError, TypeError, KeyError) as error:
        raise DamagedVaultError("an event in the log of the vault is damaged") from error


def walk(
    key: bytes,
    rows: Iterable[tuple[object, object, object]],
    *,
    after: int = 0,
    head: str = GENESIS,
) -> tuple[list[Event], str]:
    """Follow the chain from its beginning; give its events and its last mark, or refuse.

    Each row is a number, the event as text, and its mark. Who has followed it before goes on
    ``after`` that event, whose mark was ``head``.
    """
    read = list[Event]()
    for number, body, mark in rows:
        expected, next_one = link(key, head, str(body)), after + len(read) + 1
        if number != next_one or not same(mark, expected):
            raise DamagedVaultError(
                f"the log of the vault was changed: event {next_one} does not follow"
            )
        read.append(parse_event(body))
        head = expected
    return read, head
