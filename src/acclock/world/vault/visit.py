"""One transaction inside an open vault, and the log that it writes."""

from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from acclock.errors import DamagedVaultError
from acclock.world.vault.audit import Event, link, walk
from acclock.world.vault.known_names import KnownNames
from acclock.world.vault.row_macs import derive_row_key
from acclock.world.vault.sealing import sign
from acclock.world.vault.secret_keys import SecretKeys
from acclock.world.vault.tables import events, vaults

_INSERT, _UPDATE = insert(events), update(vaults)  # made once: making them anew costs as much


@dataclass(slots=True, kw_only=True)
class Visit:
    """What a transaction works with: the keys, and the counts of the vault's one row."""

    connection: Connection
    vault: str
    master_name: str
    master: bytes = field(repr=False)
    keys: SecretKeys
    people: int
    events: int
    head: str
    now: datetime
    unwritten: list[dict[str, object]] = field(default_factory=list)
    known_names: KnownNames = field(default_factory=KnownNames, repr=False)
    """Kept from one visit to the next."""

    @property
    def row_key(self) -> bytes:
        """The key that signs rows which carry authority, outside of the vault's own tables."""
        return derive_row_key(self.master, self.vault)

    def log(
        self,
        kind: str,
        *,
        person: str | None = None,
        version: int | None = None,
        note: str | None = None,
    ) -> None:
        """Note an event; it is stored when the visit ends."""
        event = Event(
            number=self.events + 1,
            time=self.now,
            kind=kind,
            person=person,
            version=version,
            note=note,
        )
        body = event.as_text()
        self.events, self.head = event.number, link(self.keys.auditing, self.head, body)
        self.unwritten.append({"number": event.number, "body": body, "mark": self.head})

    def write_log(self) -> None:
        """Store the events of this visit, and the counts after them: once, at its end."""
        if self.unwritten:
            self.connection.execute(_INSERT, self.unwritten)
            self.connection.execute(_UPDATE, self.state())
            self.unwritten = []

    def state(self) -> dict[str, object]:
        """Give the counts of the vault with the mark that protects them."""
        counts = {"people": self.people, "events": self.events, "head": self.head}
        return counts | {"mark": self.expected_mark()}

    def expected_mark(self) -> str:
        """Sign the counts, so that nobody can take a person away or cut the log short."""
        counts = (self.people, self.events, self.head)
        return sign(self.keys.auditing, "state", self.vault, self.master_name, *counts)


def read_log(visit: Visit) -> list[Event]:
    """Read the whole log, and notice when something in it or at its end is missing."""
    rows = visit.connection.execute(select(events).order_by(events.c.number)).all()
    read, head = walk(visit.keys.auditing, ((row[0], row[1], row[2]) for row in rows))
    if (len(read), head) != (visit.events, visit.head):
        raise DamagedVaultError(
            f"the log of the vault was cut short: it has {len(read)} of {visit.events} events"
        )
    return read
