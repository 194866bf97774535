"""A copy of a whole vault in one file, made while it is in use, and the way back."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, delete, insert, select

from acclock.errors import DamagedVaultError, VaultError
from acclock.system.files import hidden_path, put_in_place
from acclock.vault import database
from acclock.vault.audit import GENESIS, HeadFile, walk
from acclock.vault.database import refusing
from acclock.vault.keys import KeyStore
from acclock.vault.opening import check, closed_on_error, prepare, utc_now
from acclock.vault.schema import events, metadata, people, recordings, templates, upgrade, vaults
from acclock.vault.transaction import VaultTransaction
from acclock.vault.vault import Vault

_AT_ONCE = 500


def back_up(vault: Vault, path: Path) -> None:
    """Copy the vault as it is at one moment into an SQLite file, whatever database it is in.

    The copy is as sealed as the vault and needs the same master key: keep that elsewhere too.
    """
    if not path.parent.is_dir():
        raise VaultError(f"cannot write {path}: there is no folder {path.parent}")
    with vault.writing() as transaction:
        transaction.log("backed up")
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


def restore(
    backup: Path,
    folder: Path,
    *,
    url: str | None = None,
    key_store: KeyStore | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> Vault:
    """Put a backup in the place of a vault, after everything in it was opened and checked.

    Where the vault is still there its log goes on; the people are those of the backup. The count
    of what was last seen begins anew: an older state is accepted here, and only here.
    """
    vault = _prepare_target(folder, url=url, key_store=key_store, clock=clock)
    with (
        closed_on_error(vault),
        hidden_path(backup, within=folder) as place,
        _checked_copy(backup, place, vault) as copy,
        copy.reading() as source,
        database.writing(vault.engine) as target,
    ):
        transaction = _replace_content(source, target)
        transaction.log("restored")
        transaction.write_log()
    vault.remember(transaction)
    database.scrub(vault.engine)
    return vault


def _prepare_target(
    folder: Path,
    *,
    url: str | None,
    key_store: KeyStore | None,
    clock: Callable[[], datetime],
) -> Vault:
    def anew() -> Vault:
        vault = prepare(folder, url=url, key_store=key_store, clock=clock, patience_s=5.0)
        with closed_on_error(vault):
            upgrade(vault.engine)
        return vault

    try:
        return anew()
    except DamagedVaultError:
        if url is not None:
            raise
        for path in folder.glob("vault.db*"):
            path.replace(path.with_name(f"damaged.{path.name}"))
        return anew()


def _checked_copy(backup: Path, place: Path, vault: Vault) -> Vault:
    """Work on a copy: an older backup gets newer tables, and the original stays as it is."""
    try:
        shutil.copyfile(backup, place)
    except OSError as error:
        raise VaultError(f"cannot read {backup}: {error.strerror}") from error
    copy = Vault(
        engine=database.connect(f"sqlite:///{place}"),
        key_store=vault.key_store,
        head_file=HeadFile(path=place.with_name(f"{place.name}.head")),
        clock=vault.clock,
    )
    try:
        upgrade(copy.engine)
        check(copy)
    except VaultError as error:
        copy.close()
        raise DamagedVaultError(f"{backup} cannot be restored: {error}") from error
    return copy


def _replace_content(source: VaultTransaction, target: Connection) -> VaultTransaction:
    found = target.execute(select(vaults.c.vault)).scalars().all()
    if found and found != [source.vault]:
        raise VaultError("the backup is of another vault than the one that is there")
    for table in (templates, recordings, people, vaults):
        target.execute(delete(table))
    for table in (people, templates, recordings, vaults):
        copy_rows(source.connection, target, table)
    length, head = _log_that_stays(source, target)
    return replace(source, connection=target, events=length, head=head)


def _log_that_stays(source: VaultTransaction, target: Connection) -> tuple[int, str]:
    """Keep the vault's own log where it is whole; else take the backup's."""
    rows = target.execute(select(events).order_by(events.c.number)).all()
    try:
        read, head = walk(source.keys.auditing, ((row[0], row[1], row[2]) for row in rows))
    except DamagedVaultError:
        read, head = [], GENESIS
    if len(read) >= source.events:
        return len(read), head
    target.execute(delete(events))
    copy_rows(source.connection, target, events)
    return source.events, source.head
