"""The service's tables in the vault's database: SQLite or PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, insert, inspect, select
from sqlalchemy.exc import IntegrityError

from acclock.errors import VaultError
from acclock.world.service.tables import FORMAT, formats, metadata
from acclock.world.vault import database
from acclock.world.vault.refusals import refusing


class Store:
    """Transactions over the service's tables. They do not wait for the vault's writers."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._prepare()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with database.reading(self._engine) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a transaction of its own: committed when it ends without an error."""
        options = (
            {"writes": True}
            if self._engine.dialect.name == "sqlite"
            else {"isolation_level": "READ COMMITTED"}
        )
        with refusing(), self._engine.connect() as plain:
            connection = plain.execution_options(**options)
            with connection.begin():
                yield connection

    def _prepare(self) -> None:
        """Make the tables where there are none."""
        with self.reading() as connection:
            if inspect(connection).has_table(formats.name):
                _check(connection)
                return
        with database.writing(self._engine) as connection:
            metadata.create_all(connection)
            if connection.execute(select(formats.c.format)).first() is None:
                connection.execute(insert(formats), {"format": FORMAT})


def _check(connection: Connection) -> None:
    if connection.execute(select(formats.c.format)).scalar() != FORMAT:
        raise VaultError("the service's tables were made by another AccLock; this cannot use them")


__all__ = ["IntegrityError", "Store"]
