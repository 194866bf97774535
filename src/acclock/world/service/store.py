"""The service's tables in the vault's database: SQLite or PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

from acclock.world.vault import database
from acclock.world.vault.refusals import refusing


class Store:
    """Transactions over the service's tables. They do not wait for the vault's writers.

    The engine is that of an open vault, whose migrations have made the tables.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

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
