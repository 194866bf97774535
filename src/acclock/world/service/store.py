"""The service's tables in the vault's database: SQLite or PostgreSQL."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Row, Select, Table, insert, update

from acclock.world.service.metrics import Metrics
from acclock.world.service.refused_rows import RefusedRows
from acclock.world.service.revocations import Revocations
from acclock.world.vault import database
from acclock.world.vault.refusals import refusing
from acclock.world.vault.row_macs import MAC, has_valid_mac, row_mac, share_row_key
from acclock.world.vault.vault import Vault
from acclock.world.vault.visit import Visit


class Store:
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

    def __init__(self, visit: Visit, refused: RefusedRows) -> None:
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
