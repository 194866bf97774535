"""Bytes that only a key opens, and rows that only a key can have written."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import Connection, MetaData, Table, select, text, update

from acclock.errors import DamagedVaultError

_NONCE_BYTES = 12


def new_key() -> bytes:
    """Give 256 bits that nobody knows."""
    return secrets.token_bytes(32)


def seal(key: bytes, plain: bytes, *place: str | int) -> bytes:
    """Encrypt with AES-256-GCM; the place is not stored, but without it nothing opens."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plain, _bound(place))


def unseal(key: bytes, sealed: object, *place: str | int) -> bytes:
    """Give back what was sealed with this key for this place, or refuse.

    >>> key = bytes(32)
    >>> unseal(key, seal(key, b"center", "ada", 1), "ada", 1)
    b'center'
    """
    if not isinstance(sealed, bytes) or len(sealed) < _NONCE_BYTES + 16:
        raise DamagedVaultError("a record of the vault is damaged")
    nonce, body = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
    try:
        return AESGCM(key).decrypt(nonce, body, _bound(place))
    except InvalidTag as error:
        raise DamagedVaultError(
            "a record of the vault does not open: it is damaged, moved, or of another key"
        ) from error


def sign(key: bytes, *parts: str | int) -> str:
    """Give a mark (HMAC-SHA256) that only the key's owner can make for these parts."""
    return hmac.new(key, _bound(parts), hashlib.sha256).hexdigest()


def same(mark: object, expected: str) -> bool:
    """Compare a mark in a time that tells nothing."""
    return isinstance(mark, str) and hmac.compare_digest(mark.encode(), expected.encode())


def _bound(parts: tuple[str | int, ...]) -> bytes:
    if not all(isinstance(part, str | int) for part in parts):
        raise DamagedVaultError("a record of the vault is damaged")
    return json.dumps(["acclock", 1, *parts], separators=(",", ":")).encode()


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
