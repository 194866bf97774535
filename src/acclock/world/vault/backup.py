"""A copy of a whole vault in one file, made while it is in use."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, insert, select

from acclock.errors import VaultError
from acclock.world.replacing import hidden_path
from acclock.world.vault import database
from acclock.world.vault.private_files import put_in_place
from acclock.world.vault.refusals import refusing
from acclock.world.vault.schema import upgrade
from acclock.world.vault.tables import metadata
from acclock.world.vault.vault import Vault

_AT_ONCE = 500


def back_up(vault: Vault, path: Path) -> None:
    """Copy the vault as it is at one moment into an SQLite file, whatever database it is in.

    The copy is as sealed as the vault and needs the same master key: keep that elsewhere too.
    """
    if not path.parent.is_dir():
        raise VaultError(f"cannot write {path}: there is no folder {path.parent}")
    with vault.writing() as visit:
        visit.log("backed up")
    with hidden_path(path) as copy:
        if vault.engine.dialect.name == "sqlite":
            _copy_file(vault.engine, copy)
        else:
            _copy_database(vault.engine, copy)
        put_in_place(copy, path)


def copy_rows(source: Connection, target: Connection, table: Table) -> None:
    """Copy one table into an empty one."""
    for rows in _batches(source, table):
        target.execute(insert(table), rows)


def _batches(source: Connection, table: Table) -> Iterator[list[dict[str, Any]]]:
    found = source.execute(select(table)).mappings()
    while batch := found.fetchmany(_AT_ONCE):
        yield [dict(row) for row in batch]


def _copy_file(engine: Engine, copy: Path) -> None:
    """Use SQLite's own way: copying the file would miss what is only in its log."""
    with refusing(), engine.connect() as connection, closing(sqlite3.connect(copy)) as target:
        raw: Any = connection.connection.driver_connection
        raw.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")  # one file, and nothing beside it


def _copy_database(engine: Engine, copy: Path) -> None:
    target_engine = database.connect(f"sqlite:///{copy}")
    upgrade(target_engine)
    with database.reading(engine) as source, database.writing(target_engine) as target:
        for table in metadata.sorted_tables:
            copy_rows(source, target, table)
    database.scrub(target_engine)
    target_engine.dispose()
