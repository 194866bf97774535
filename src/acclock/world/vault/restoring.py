"""The way back from a backup."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, delete, select

from acclock.errors import DamagedVaultError, VaultError
from acclock.world.replacing import hidden_path
from acclock.world.vault import database
from acclock.world.vault.audit import GENESIS, walk
from acclock.world.vault.backup import copy_rows
from acclock.world.vault.checking import check
from acclock.world.vault.head import HeadFile
from acclock.world.vault.keys import KeyStore
from acclock.world.vault.opening import closed_on_error, prepare, utc_now
from acclock.world.vault.schema import upgrade
from acclock.world.vault.tables import events, people, recordings, templates, vaults
from acclock.world.vault.vault import Vault
from acclock.world.vault.visit import Visit


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
        visit = _replace_content(source, target)
        visit.log("restored")
        visit.write_log()
    vault.remember(visit)
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


def _replace_content(source: Visit, target: Connection) -> Visit:
    found = target.execute(select(vaults.c.vault)).scalars().all()
    if found and found != [source.vault]:
        raise VaultError("the backup is of another vault than the one that is there")
    for table in (templates, recordings, people, vaults):
        target.execute(delete(table))
    for table in (people, templates, recordings, vaults):
        copy_rows(source.connection, target, table)
    length, head = _log_that_stays(source, target)
    return replace(source, connection=target, events=length, head=head)


def _log_that_stays(source: Visit, target: Connection) -> tuple[int, str]:
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
