"""MACs on rows that carry authority: writing to the database without the key commands nothing."""

from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import Connection, MetaData, Table, select, text, update

from acclock.errors import DamagedVaultError
from acclock.world.vault.sealing import same, sign

MAC = "mac"
"""The column that holds the MAC of its row, over every other column."""
_LOCK = 0x6163_636C_726F_7773
"""«acclrows»: the number of the lock that PostgreSQL gives to who writes rows, or renews MACs."""


def derive_row_key(master: bytes, vault: str) -> bytes:
    """Give the key for the MACs of rows: another one after every rotation of the master key."""
    return HKDF(SHA256(), 32, salt=vault.encode(), info=b"acclock rows").derive(master)


def row_mac(key: bytes, table: str, row: Mapping[Any, object]) -> str:
    """Give the MAC of a row, bound to its table and to all columns: number, times and the rest."""
    parts = [part for name in sorted(row) if name != MAC for part in (name, _written(row[name]))]
    return sign(key, "row", table, *parts)


def has_valid_mac(key: bytes, table: str, row: Mapping[Any, object]) -> bool:
    """Tell whether a row is as somebody with the key wrote it."""
    try:
        return same(row[MAC], row_mac(key, table, row))
    except DamagedVaultError:  # a value of a kind that is never written here
        return False


def share_row_key(connection: Connection) -> None:
    """Keep the key for MACs from changing until this transaction ends. SQLite does so anyway."""
    _lock(connection, "pg_advisory_xact_lock_shared")


def renew_row_macs(connection: Connection, before: bytes, after: bytes) -> None:
    """Give every valid row a MAC under another key; a row that was not valid does not become so."""
    _lock(connection, "pg_advisory_xact_lock")
    found = MetaData()
    found.reflect(connection, only=lambda name, _: name.startswith("acclock_"))
    for table in found.tables.values():
        if MAC in table.c:
            _renew_table(connection, table, before, after)


def _renew_table(connection: Connection, table: Table, before: bytes, after: bytes) -> None:
    for row in connection.execute(select(table)).mappings().all():
        if has_valid_mac(before, table.name, row):
            place = [column == row[column.name] for column in table.primary_key]
            mac = row_mac(after, table.name, row)
            connection.execute(update(table).where(*place).values({MAC: mac}))


def _lock(connection: Connection, how: str) -> None:
    if connection.dialect.name != "sqlite":
        connection.execute(text(f"SELECT {how}({_LOCK})"))


def _written(value: object) -> str:
    """Give a value as text that no value of another kind shares, exact to the last bit."""
    match value:
        case None:
            return "none"
        case bool() | int() | str():
            return f"{type(value).__name__} {value}"
        case float():
            return f"float {value.hex()}"
        case _:
            raise DamagedVaultError("a row holds a value of a kind that is not written there")
