"""Opening a vault, or making one where there is none, and whether everything in it is well."""

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import insert, inspect, select

from acclock.errors import DamagedVaultError, FullDiskError, VaultError
from acclock.system.files import make_private_folder
from acclock.system.settings import require_vault
from acclock.vault import database
from acclock.vault.audit import GENESIS, AuditRecord, HeadFile, LastSeenEvent
from acclock.vault.key_rotation import forget_old_keys
from acclock.vault.keys import KeyStore, find_key_store
from acclock.vault.people import everybody
from acclock.vault.reserve import largest_content
from acclock.vault.schema import events, upgrade, vaults
from acclock.vault.sealing import new_key
from acclock.vault.template_store import packed_recordings, packed_templates, unpack
from acclock.vault.transaction import SecretKeys, VaultTransaction
from acclock.vault.vault import Vault


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultHealth:
    """How much was looked at and found well."""

    people: int
    versions: int
    recordings: int
    events: int


def check(vault: Vault) -> VaultHealth:
    """Open everything and compare it with the log; refuse at the first thing that is wrong."""
    events = vault.events()
    with vault.reading() as transaction:
        found = list(everybody(transaction))
        _compare(events[: transaction.events], {person.person: person.version for person in found})
        versions = kept = 0
        for person in found:
            stored = packed_templates(transaction, person)
            for _, _, packed in stored:
                unpack(transaction, packed)
            versions += len(stored)
            kept += len(packed_recordings(transaction, person))
    return VaultHealth(people=len(found), versions=versions, recordings=kept, events=len(events))


def _compare(events: Iterable[AuditRecord], found: dict[str, int]) -> None:
    """Tell from the log who must be there in which version; a restored backup begins anew."""
    expected: dict[str, int] = {}
    since_restored = False
    for event in events:
        if event.kind == "restored":
            expected, since_restored = {}, True
        elif event.kind == "removed" and event.person is not None:
            expected[event.person] = 0
        elif event.person is not None and event.version is not None:
            expected[event.person] = event.version
    differs = {person for person, version in expected.items() if found.get(person, 0) != version}
    unheard = set() if since_restored else set(found) - set(expected)
    if differs or unheard:
        raise DamagedVaultError(
            f"{len(differs | unheard)} people are not in the state that the log tells: "
            "the vault was replaced by an older copy, or rows were"
        )


_NOWHERE = "there is no vault at"


def utc_now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def open_vault(
    folder: Path,
    *,
    url: str | None = None,
    key_store: KeyStore | None = None,
    clock: Callable[[], datetime] = utc_now,
    patience_s: float = 5.0,
    create: bool = True,
) -> Vault:
    """Open the vault of a folder, or make a new one, unless told not to ``create`` any.

    The folder holds the key (unless the operating system's keyring does), the count of what was
    last seen, and the SQLite database, unless ``url`` names another: ``postgresql://...``.
    """
    if not create:
        require_vault(folder)
    vault = prepare(folder, url=url, key_store=key_store, clock=clock, patience_s=patience_s)
    with closed_on_error(vault):
        try:
            _open(vault, folder, create=create)
        except FullDiskError:  # even reading takes some room
            if not vault.reserve.release():
                raise
            _open(vault, folder, create=create)
    return vault


def _open(vault: Vault, folder: Path, *, create: bool) -> None:
    if not _is_there(vault):
        _refuse_to_replace(vault)
        if not create:
            raise VaultError(f"{_NOWHERE} {folder}")
        upgrade(vault.engine)
        _create(vault)
    upgrade(vault.engine)
    _compare_with_last_seen(vault)
    _finish_what_a_crash_left(vault)
    if not vault.reserve.is_full:
        vault.reserve.refill(largest_content(vault.engine))


def accept_state(
    folder: Path,
    *,
    url: str | None = None,
    key_store: KeyStore | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> Vault:
    """Take a vault without ``vault.head`` as it is now, once; the log says that this was done.

    Whether it is the newest state nobody but the operator can know. Where the file is still there,
    nothing is accepted: an older state comes back by :func:`restoring.restore` alone.
    """
    if url is None:
        require_vault(folder)
    vault = prepare(folder, url=url, key_store=key_store, clock=clock, patience_s=5.0)
    with closed_on_error(vault):
        if vault.head_file.path.exists():
            raise VaultError(f"{vault.head_file.path} is there: no state has to be accepted")
        if not _is_there(vault):
            raise VaultError(f"{_NOWHERE} {folder}")
        upgrade(vault.engine)
        check(vault)
        with vault.writing() as transaction:
            transaction.log("state accepted", note="vault.head was not there")
    return vault


def _is_there(vault: Vault) -> bool:
    with database.reading(vault.engine) as connection:
        if not inspect(connection).has_table(vaults.name):
            return False
        return connection.execute(select(vaults.c.vault)).first() is not None


def _refuse_to_replace(vault: Vault) -> None:
    """Refuse to begin anew where a vault was, unless it only began to be made."""
    if vault.head_file.path.exists() and not vault.head_file.tells_of_nothing():
        raise DamagedVaultError(
            f"the vault that {vault.head_file.path} tells of is gone: restore a backup, "
            "or remove that file to begin anew"
        )


@contextmanager
def closed_on_error(vault: Vault) -> Iterator[None]:
    """Leave no connection behind when opening does not succeed."""
    try:
        yield
    except BaseException:
        vault.close()
        raise


def prepare(
    folder: Path,
    *,
    url: str | None,
    key_store: KeyStore | None,
    clock: Callable[[], datetime],
    patience_s: float,
) -> Vault:
    """Put a vault together without looking into it."""
    make_private_folder(folder)
    path = folder.resolve() / "vault.db"
    engine = database.connect(url or f"sqlite:///{path}", patience_s=patience_s)
    database.make_file(engine)
    return Vault(
        engine=engine,
        key_store=key_store or find_key_store(folder),
        head_file=HeadFile(path=folder / "vault.head"),
        clock=clock,
    )


def _create(vault: Vault) -> None:
    """Make the keys, the count of no events, then the vault.

    A key, or a count of nothing, without a vault harms nobody; a vault without a count would not
    open after a crash at this moment.
    """
    with database.writing(vault.engine) as connection:
        if connection.execute(select(vaults.c.vault)).first() is not None:
            return  # somebody else was faster
        stored = vault.key_store.read()
        master_name, master = next(iter(stored.items()), (secrets.token_hex(16), new_key()))
        vault.key_store.write(stored | {master_name: master})
        transaction = VaultTransaction(
            connection=connection,
            vault=secrets.token_hex(16),
            master_name=master_name,
            master=master,
            keys=SecretKeys(),
            people=0,
            events=0,
            head=GENESIS,
            now=vault.clock(),
        )
        sealed = transaction.keys.sealed(master, transaction.vault, master_name)
        row = {"vault": transaction.vault, "master": master_name, "secrets": sealed}
        connection.execute(insert(vaults), row | transaction.state())
        vault.remember(transaction)
        transaction.log("created")
        transaction.write_log()
    vault.remember(transaction)


def _finish_what_a_crash_left(vault: Vault) -> None:
    """Erase what a removal or a rotation of keys did not live to erase."""
    with suppress(VaultError):  # busy: then a rotation is under way, and finishes by itself
        forget_old_keys(vault)
    if vault.engine.dialect.name == "sqlite":
        database.scrub(vault.engine, wait=False)


def _compare_with_last_seen(vault: Vault) -> None:
    """Refuse a database that has forgotten events which this machine has seen."""
    with vault.reading() as transaction:
        seen = vault.head_file.read(transaction.vault, transaction.keys.auditing)
        if seen is None:
            raise DamagedVaultError(
                f"{vault.head_file.path} is not there, so nobody can tell whether this is the "
                "newest state of the vault: put the file back, or, if it is, `acclock accept-state`"
            )
        _compare_opening(transaction, seen)
    if seen.events == 0:  # whoever made the vault did not live to count
        vault.remember(transaction)


def _compare_opening(transaction: VaultTransaction, seen: LastSeenEvent) -> None:
    if transaction.events < seen.events:
        raise DamagedVaultError(
            f"the vault has {transaction.events} events and had {seen.events}: it was cut "
            "short, or replaced by an older copy; restore a backup to accept that"
        )
    mark = select(events.c.mark).where(events.c.number == seen.events)
    known = transaction.connection.execute(mark).scalar() if seen.events else GENESIS
    # a count of nothing is what a vault begins with, and never what an older one comes back with
    if known != seen.head or (seen.events == 0 and transaction.events > 1):
        raise DamagedVaultError("the vault's past is not the one that was last seen")
