"""What a database complains about, as sentences without any value in them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from acclock.errors import DamagedVaultError, FullDiskError, VaultError

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
