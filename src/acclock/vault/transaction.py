"""One transaction inside an open vault, the keys it opens, and the log that it writes."""

import json
from base64 import b64decode, b64encode
from dataclasses import asdict, dataclass, field
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from acclock.errors import DamagedVaultError
from acclock.vault.audit import AuditRecord, link, walk
from acclock.vault.names import KnownNames
from acclock.vault.schema import events, vaults
from acclock.vault.sealing import derive_row_key, new_key, seal, sign, unseal


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretKeys:
    """One key for each purpose, so that none gives another away."""

    turning: bytes = field(default_factory=new_key, repr=False)
    """Seeds the rotation of the embedding space; a new one revokes every template."""
    naming: bytes = field(default_factory=new_key, repr=False)
    """Hashes names, so that a person is found and nobody reads who is enrolled."""
    auditing: bytes = field(default_factory=new_key, repr=False)
    """Signs the log. It never changes: the whole log hangs on it."""

    def sealed(self, master: bytes, vault: str, master_name: str) -> bytes:
        """Give the keys in the form in which they are stored."""
        kept = {name: b64encode(key).decode("ascii") for name, key in asdict(self).items()}
        return seal(master, json.dumps(kept).encode(), "secrets", vault, master_name)


def open_secret_keys(sealed: object, master: bytes, vault: str, master_name: str) -> SecretKeys:
    """Give back the keys that the master key sealed for this vault."""
    kept = json.loads(unseal(master, sealed, "secrets", vault, master_name))
    return SecretKeys(**{name: b64decode(key) for name, key in kept.items()})


_INSERT, _UPDATE = insert(events), update(vaults)  # made once: making them anew costs as much


@dataclass(slots=True, kw_only=True)
class VaultTransaction:
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
        event = AuditRecord(
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


def read_log(transaction: VaultTransaction) -> list[AuditRecord]:
    """Read the whole log, and notice when something in it or at its end is missing."""
    rows = transaction.connection.execute(select(events).order_by(events.c.number)).all()
    read, head = walk(transaction.keys.auditing, ((row[0], row[1], row[2]) for row in rows))
    if (len(read), head) != (transaction.events, transaction.head):
        raise DamagedVaultError(
            f"the log of the vault was cut short: it has {len(read)} of {transaction.events} events"
        )
    return read
