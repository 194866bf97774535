"""The service's tables in the vault's database, and transactions over them.

They are made and changed by the migrations of the vault.
"""

import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    Row,
    Select,
    String,
    Table,
    Text,
    insert,
    select,
    update,
)

from acclock.errors import AccLockError, DamagedVaultError
from acclock.service.metrics import Metrics
from acclock.vault import database
from acclock.vault.audit import GENESIS, AuditRecord, walk
from acclock.vault.database import refusing
from acclock.vault.schema import events
from acclock.vault.sealing import MAC, has_valid_mac, row_mac, share_row_key
from acclock.vault.transaction import VaultTransaction
from acclock.vault.vault import Vault

metadata = MetaData()


def _mac() -> Column[str]:
    return Column(MAC, String(64), nullable=False, server_default="")


tokens = Table(
    "acclock_tokens",
    metadata,
    Column("token", String(16), primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("person", String(32)),
    Column("may_grant", Boolean, nullable=False),
    Column("note", String(64), nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    _mac(),
)
"""A number to revoke by, and the SHA-256 of what its owner holds."""

rates = Table(
    "acclock_rates",
    metadata,
    Column("bucket", String(96), primary_key=True),
    Column("minute", Integer, primary_key=True, autoincrement=False),
    Column("count", Integer, nullable=False),
)

replicas = Table(
    "acclock_replicas",
    metadata,
    Column("replica", String(16), primary_key=True),
    Column("beat", Integer, nullable=False),
    Column("seen", Float, nullable=False),
    Column("sessions", String(64), nullable=False, server_default=""),
    _mac(),
)
"""Which replicas are alive: the beat rises twice a second. ``sessions`` is the digest of the
replica's rows in ``acclock_streams``, so that no older row passes for the present one. A replica
that was ``seen`` too long ago is not believed, even when its beat rises."""

streams = Table(
    "acclock_streams",
    metadata,
    Column("stream", String(32), primary_key=True),
    Column("replica", String(16), nullable=False),
    Column("person", String(32), nullable=False),
    Column("token", String(16), nullable=False),
    Column("status", Text, nullable=False),
    _mac(),
)
"""How each live session stands, without names."""

current = Table(
    "acclock_current",
    metadata,
    Column("person", String(32), primary_key=True),
    Column("stream", String(32), nullable=False),
    Column("at", Float, nullable=False),
)
"""Which stream is each person's session. It opens nothing; a stream that is not in it locks."""

happenings = Table(
    "acclock_happenings",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("replica", String(16), nullable=False),
    Column("person", String(32), nullable=False),
    Column("at", Float, nullable=False),
    Column("body", Text, nullable=False),
    _mac(),
    sqlite_autoincrement=True,
)
"""What changed lately, so that replicas can tell those who listen at them."""

orders = Table(
    "acclock_orders",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("stream", String(32), nullable=False),
    Column("duration_s", Float, nullable=False),
    Column("at", Float, nullable=False),
    _mac(),
    sqlite_autoincrement=True,
)
"""Grants on their way to the replica that holds the session."""

receipts = Table(
    "acclock_receipts",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("request", String(64), nullable=False),
    Column("result", String(64)),
    Column("at", Float, nullable=False),
    Index("acclock_receipts_at", "at"),
)
"""What was done under which key of a client that may ask again. It has no MAC because it opens
nothing: what is answered is looked up in the vault."""


_EVERY_S = 60.0
"""One event for each table in so long: inserting rows must not flood the log."""
_MOST_KNOWN = 10_000

_log = logging.getLogger(__name__)


class RefusedRows:
    """The rows that one process refused. Threads may share it."""

    def __init__(self, vault: Vault, metrics: Metrics | None) -> None:
        self._vault, self._metrics = vault, metrics
        self._lock = Lock()
        self._known: set[tuple[str, ...]] = set()
        self._unaudited: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._audited_s: dict[str, float] = {}

    def add(self, table: str, row: str, mac: str, *, why: str) -> None:
        """Count a row that was refused, unless this very row was before."""
        with self._lock:
            if (table, row, mac, why) in self._known:
                return
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known.add((table, row, mac, why))
            self._unaudited[table] += 1
            self._first.setdefault(table, f"{row}: {why}")
        if self._metrics is not None:
            self._metrics.count("refused_rows", table.removeprefix("acclock_"))

    def audit(self) -> None:
        """Write what is new into the vault's log; outside of any transaction."""
        notes = self._take_notes()
        if not notes:
            return
        _log.warning("rows of the database were refused: %s", "; ".join(notes))
        try:
            with self._vault.writing() as visit:
                for note in notes:
                    visit.log("row refused", note=note)
        except AccLockError as error:  # the rows are refused all the same
            _log.warning("%s", error)

    def _take_notes(self) -> list[str]:
        with self._lock:
            now_s, notes = time.monotonic(), list[str]()
            for table in list(self._unaudited):
                if now_s - self._audited_s.get(table, -_EVERY_S) >= _EVERY_S:
                    others = self._unaudited.pop(table) - 1
                    more = f" and {others} more" if others else ""
                    notes.append(f"{table} {self._first.pop(table)}{more}")
                    self._audited_s[table] = now_s
            return notes


REVOKED = "token revoked"
"""The kind of event whose note is the number of a token."""


class Revocations:
    """Follows the chain of events as far as it has grown. Threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._events, self._head = 0, GENESIS
        self._tokens: set[str] = set()
        self._removed: set[str] = set()

    def follow(self, visit: VaultTransaction) -> None:
        """Read what was added to the log; refuse a log that is not a longer one of the same."""
        with self._lock:
            if visit.events < self._events or visit.head == self._head:
                return  # another thread has read further than this transaction sees
            added = (events.c.number > self._events) & (events.c.number <= visit.events)
            rows = visit.connection.execute(select(events).where(added).order_by(events.c.number))
            plain = ((row[0], row[1], row[2]) for row in rows)
            read, head = walk(visit.keys.auditing, plain, after=self._events, head=self._head)
            if (self._events + len(read), head) != (visit.events, visit.head):
                raise DamagedVaultError(
                    "the log of the vault is not the one that was followed so far; start again"
                )
            self._events, self._head = visit.events, head
            for event in read:
                self._learn(event)

    def has_revoked(self, token: str) -> bool:
        return token in self._tokens

    def has_removed(self, person: str | None) -> bool:
        return person in self._removed

    def _learn(self, event: AuditRecord) -> None:
        if event.kind == REVOKED and event.note is not None:
            self._tokens.add(event.note)
        elif event.kind == "removed" and event.person is not None:
            self._removed.add(event.person)
        elif event.kind == "restored":  # the people are those of the backup
            self._removed.clear()


class ServiceStore:
    """Transactions over the service's tables. They do not wait for the vault's writers.

    The vault is open, and its migrations have made the tables. A row without a valid MAC under the
    vault's key is refused, counted and, after the transaction, written into the vault's log.
    """

    def __init__(self, vault: Vault, metrics: Metrics | None = None) -> None:
        self.vault = vault
        self.refused = RefusedRows(vault, metrics)
        self.revocations = Revocations()
        self.beat = 0
        """The last beat that was written by this process."""
        self.taken: dict[int, float] = {}
        """Orders that were carried out lately, by number, and when they were given."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with database.reading(self.vault.engine) as connection:
            yield connection
        self.refused.audit()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a transaction of its own: committed when it ends without an error."""
        options = (
            {"writes": True}
            if self.vault.engine.dialect.name == "sqlite"
            else {"isolation_level": "READ COMMITTED"}
        )
        with refusing(), self.vault.engine.connect() as plain:
            connection = plain.execution_options(**options)
            with connection.begin():
                yield connection
        self.refused.audit()

    @contextmanager
    def checking(self) -> Iterator["SignedRows"]:
        """Read rows that need a MAC."""
        with self.reading() as connection:
            yield SignedRows(self.vault.enter(connection), self.refused)

    @contextmanager
    def signing(self) -> Iterator["SignedRows"]:
        """Read and write rows that need a MAC; meanwhile nobody rotates the keys."""
        with self.writing() as connection:
            share_row_key(connection)
            yield SignedRows(self.vault.enter(connection), self.refused)

    @contextmanager
    def changing_vault(self) -> Iterator["SignedRows"]:
        """Write rows and the vault's log in one transaction, after its other writers."""
        with self.vault.writing() as visit:
            yield SignedRows(visit, self.refused)
        self.refused.audit()


class SignedRows:
    """One transaction over rows with MACs: it signs what is written and checks what is read."""

    def __init__(self, visit: VaultTransaction, refused: RefusedRows) -> None:
        self.visit, self.connection = visit, visit.connection
        self._key, self._refused = visit.row_key, refused

    def sign(self, table: Table, row: Mapping[str, object]) -> dict[str, object]:
        """Give a whole row with its MAC, its values of the kind that the database gives back."""
        kept = {name: _as_stored(table, name, value) for name, value in row.items()}
        return kept | {MAC: row_mac(self._key, table.name, kept)}

    def append(self, table: Table, row: Mapping[str, object]) -> None:
        """Insert a row whose number the database chooses: the MAC is bound to that too."""
        (number,) = table.primary_key
        given = insert(table).values(row).returning(number)
        chosen = self.connection.execute(given).scalar_one()
        mac = self.sign(table, {**row, number.name: chosen})[MAC]
        self.connection.execute(update(table).where(number == chosen).values({MAC: mac}))

    def keep(self, table: Table, query: Select[Any]) -> list[Row[Any]]:
        """Give the rows of a query over one table that carry a valid MAC."""
        rows = self.connection.execute(query).all()
        return [row for row in rows if self.accepts(table, row._mapping)]

    def accepts(self, table: Table, row: Mapping[Any, object]) -> bool:
        """Tell whether a row carries a valid MAC; one that does not is counted and audited."""
        if has_valid_mac(self._key, table.name, row):
            return True
        self.refuse(table, row, why="it has a wrong MAC" if row[MAC] else "it has no MAC")
        return False

    def refuse(self, table: Table, row: Mapping[Any, object], *, why: str) -> None:
        """Have a row counted and audited."""
        (place,) = table.primary_key
        self._refused.add(table.name, f"{row[place.name]}", f"{row[MAC]}", why=why)


def _as_stored(table: Table, name: str, value: object) -> object:
    return None if value is None else table.c[name].type.python_type(value)
