"""Bytes that only a key opens, and only in the place they were sealed for."""

import hashlib
import hmac
import json
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

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
