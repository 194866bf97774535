"""Connections to SQLite or PostgreSQL, and transactions that are all or nothing."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError

from acclock.errors import (
    ConfigError,
    DamagedVaultError,
    FullDiskError,
    MissingExtraError,
    VaultError,
)

_SQLITE = {
    sqlite3.SQLITE_BUSY: "another program is writing to the vault; try again",
    sqlite3.SQLITE_LOCKED: "another program is writing to the vault; try again",
    sqlite3.SQLITE_READONLY: "the vault cannot be written: it is read-only",
    sqlite3.SQLITE_PERM: "the vault cannot be opened: permission denied",
    sqlite3.SQLITE_AUTH: "the vault cannot be opened: permission denied",
    sqlite3.SQLITE_CANTOPEN: "the vault's database cannot be opened",
}
_SQLITE_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}

_POSTGRES = {
    "55P03": "another program is writing to the vault; try again",
    "25006": "the vault cannot be written: it is read-only",
    "42501": "the database denied permission",
    "28P01": "the database refused the password",
    "28000": "the database refused the user",
}
_POSTGRES_DAMAGE = {"XX001", "XX002"}
_POSTGRES_FULL = "53100"

_DAMAGED = "the vault's database is damaged; restore a backup"


@contextmanager
def refusing() -> Iterator[None]:
    """Turn a database's errors into sentences."""
    try:
        yield
    except DBAPIError as error:
        raise _refusal(error.orig) from error
    except sqlite3.Error as error:
        raise _refusal(error) from error


def _refusal(error: BaseException | None) -> VaultError:
    if isinstance(error, sqlite3.Error):
        return _from_sqlite(error)
    state = getattr(error, "sqlstate", None)
    if state in _POSTGRES_DAMAGE:
        return DamagedVaultError(_DAMAGED)
    if state == _POSTGRES_FULL:
        return FullDiskError("the database's disk is full; nothing was changed")
    if state is None:
        return VaultError("the database cannot be reached")
    return VaultError(_POSTGRES.get(state, f"the database refused (state {state})"))


def _from_sqlite(error: sqlite3.Error) -> VaultError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return FullDiskError("the disk is full; nothing was changed")
    if code == sqlite3.SQLITE_IOERR:
        return FullDiskError("the disk failed or is full; nothing was changed")
    if code in _SQLITE:
        return VaultError(_SQLITE[code])
    # What remains are tables and columns that are not there, texts that are none, rows that break
    # a constraint: none of it happens to a database that only this program wrote.
    return DamagedVaultError(_DAMAGED)


_LOCK = 0x6163_636C_6F63_6B
"""«acclock»: the number of the lock that writers of a PostgreSQL vault take."""

_WAITS = {"connect_timeout": 5, "tcp_user_timeout": 10_000, "keepalives_idle": 10}
"""A server that vanished is noticed within seconds; left alone, TCP takes minutes. An address
may say otherwise."""

_SENSITIVE = ("acclock_people", "acclock_templates", "acclock_recordings", "acclock_vault")

_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "secure_delete = ON",
    "foreign_keys = ON",
    "temp_store = MEMORY",
    "cell_size_check = ON",
    "trusted_schema = OFF",
)


def connect(url: str, *, patience_s: float = 5.0) -> Engine:
    """Prepare connections to the database that a URL names; nothing is opened yet."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise ConfigError("a vault is named by sqlite:///path or postgresql://...") from error
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        return _sqlite(Path(parsed.database), patience_s)
    if parsed.get_backend_name() != "postgresql":
        raise ConfigError("a vault is named by sqlite:///path or postgresql://...")
    if find_spec("psycopg") is None:
        raise MissingExtraError(package="psycopg", extra="postgres")
    engine = create_engine(
        parsed.set(drivername="postgresql+psycopg"),
        hide_parameters=True,  # no template in any message
        isolation_level="REPEATABLE READ",
        connect_args={name: _WAITS[name] for name in _WAITS.keys() - parsed.query.keys()},
    )
    return engine.execution_options(patience_ms=int(patience_s * 1000))


def _sqlite(path: Path, patience_s: float) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}", hide_parameters=True, connect_args={"timeout": patience_s}
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:  # noqa: ANN401 - SQLAlchemy's own signature
        connection.isolation_level = None  # transactions begin where we say, DDL included
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def make_file(engine: Engine) -> None:
    """Make the file of an SQLite database, readable by its owner alone."""
    if engine.dialect.name != "sqlite":
        return
    path = str(engine.url.database)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise VaultError(f"cannot open {path}: {error.strerror}") from error


def identify_file(engine: Engine) -> tuple[int, int] | None:
    """Tell which file an SQLite database is now; nothing where there is none, or a server."""
    if engine.dialect.name != "sqlite":
        return None
    try:
        found = Path(str(engine.url.database)).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Give one unchanging view of the database."""
    with refusing(), engine.connect() as connection, connection.begin():
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Give a transaction that nobody else writes beside; on disk when it ends without an error."""
    with refusing(), engine.connect() as plain:
        if engine.dialect.name == "sqlite":
            connection = plain.execution_options(writes=True)
        else:  # what others wrote while we waited for the lock must be seen
            connection = plain.execution_options(isolation_level="READ COMMITTED")
        with connection.begin():
            if engine.dialect.name != "sqlite":
                _take_lock(connection)
            yield connection


def _take_lock(connection: Connection) -> None:
    patience_ms = connection.get_execution_options()["patience_ms"]
    connection.execute(text(f"SET LOCAL lock_timeout = {patience_ms}"))
    connection.execute(text("SET LOCAL synchronous_commit = on"))
    connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))


def scrub(engine: Engine, *, wait: bool = True) -> bool:
    """Drop deleted and overwritten rows from the files; tell whether nothing is left of them.

    Another program that is reading just then keeps them alive, and so does a full disk; the next
    to open the vault tries again. PostgreSQL's own log is out of reach (docs/decisions/0016).
    """
    if engine.dialect.name != "sqlite":
        with refusing(), engine.connect() as plain:
            connection = plain.execution_options(isolation_level="AUTOCOMMIT")
            connection.execute(text(f"VACUUM FULL {', '.join(_SENSITIVE)}"))
        return True
    with refusing(), engine.connect() as connection:
        raw: Any = connection.connection.driver_connection
        patience = raw.execute("PRAGMA busy_timeout").fetchone()[0]
        raw.execute(f"PRAGMA busy_timeout = {patience if wait else 0}")
        try:
            busy, _, _ = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:  # the disk is full, or was never to be written
            busy = True
        finally:
            raw.execute(f"PRAGMA busy_timeout = {patience}")
        return not busy
