"""Tokens: made once, shown once, kept only as a digest, good for a while, revocable."""

import hashlib
import re
import secrets
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, insert, select

from acclock.errors import ConfigError
from acclock.service.auth.roles import BOUND, ROLES, Caller, Role
from acclock.service.refusals import RefusedError
from acclock.service.store import REVOKED, ServiceStore, SignedRows, tokens

_PREFIX = "acclock_"
_FORM = re.compile(rf"{_PREFIX}[A-Za-z0-9_-]{{43}}")
_DURATION = re.compile(r"(\d{1,6})(m|h|d)")
_SECONDS = {"m": 60.0, "h": 3600.0, "d": 86400.0}
_LONGEST_S = 366 * 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """What is known of a token, which is all but the token itself."""

    token: str
    role: Role
    person: str | None
    may_grant: bool
    note: str
    created: float
    expires: float


def create_token(
    store: ServiceStore,
    role: Role,
    *,
    duration_s: float,
    person: str | None = None,
    may_grant: bool = False,
    note: str = "",
) -> tuple[str, Token]:
    """Make a token; give the secret, which is nowhere else, and what is kept of it."""
    _check(role, person, duration_s, may_grant=may_grant, note=note)
    secret = _PREFIX + secrets.token_urlsafe(32)
    now = time.time()
    made = Token(
        token=secrets.token_hex(8),
        role=role,
        person=person,
        may_grant=may_grant,
        note=note,
        created=now,
        expires=now + duration_s,
    )
    row = {field: getattr(made, field) for field in Token.__slots__} | {"digest": _digest(secret)}
    with store.changing_vault() as rows:
        rows.connection.execute(insert(tokens), rows.sign(tokens, row))
        rows.visit.log("token made", person=person, note=f"{role} token {made.token} made")
    return secret, made


def check_token(store: ServiceStore, secret: str) -> Caller:
    """Say who calls, or refuse."""
    found = []
    if _FORM.fullmatch(secret):
        with store.checking() as rows:
            found = keep_tokens(store, rows, tokens.c.digest == _digest(secret))
    row = next(iter(found), None)
    if row is None or row.expires <= time.time() or store.revocations.has_removed(row.person):
        raise RefusedError(401, "unknown_token", "the token is unknown, revoked or has expired")
    return Caller(token=row.token, role=row.role, person=row.person, may_grant=row.may_grant)


def list_tokens(store: ServiceStore) -> list[Token]:
    """Give all tokens, the oldest first."""
    with store.checking() as rows:
        found = keep_tokens(store, rows)
    return [_read(row) for row in sorted(found, key=lambda row: row.created)]


def keep_tokens(
    store: ServiceStore, rows: SignedRows, *which: ColumnElement[bool]
) -> list[Row[Any]]:
    """Give the rows of tokens that were made with the vault's key and never revoked."""
    store.revocations.follow(rows.visit)
    kept = []
    for row in rows.keep(tokens, select(tokens).where(*which)):
        if store.revocations.has_revoked(row.token):
            rows.refuse(tokens, row._mapping, why="it was revoked")
        else:
            kept.append(row)
    return kept


def drop_invalid_tokens(store: ServiceStore) -> list[Token]:
    """Delete the tokens without a valid MAC, as an older AccLock made them; give them."""
    with store.changing_vault() as rows:
        found = rows.connection.execute(select(tokens)).all()
        invalid = [row for row in found if not rows.accepts(tokens, row._mapping)]
        for row in invalid:
            rows.connection.execute(delete(tokens).where(tokens.c.token == row.token))
            rows.visit.log("token dropped", note=f"{row.token}")
    return [_read(row) for row in invalid]


def revoke_token(store: ServiceStore, token: str) -> None:
    """Make a token worthless; its streams end within a second."""
    if not _revoke(store, tokens.c.token == token):
        raise RefusedError(404, "unknown_token_number", f"there is no token {token!r}")


def revoke_person(store: ServiceStore, person: str) -> None:
    """Make every token that is about one person worthless."""
    _revoke(store, tokens.c.person == person)


def _revoke(store: ServiceStore, which: ColumnElement[bool]) -> int:
    """Delete tokens and have the log remember them, both or neither; give how many there were."""
    with store.changing_vault() as rows:
        found = rows.connection.execute(select(tokens.c.token).where(which)).scalars().all()
        rows.connection.execute(delete(tokens).where(which))
        for token in found:
            rows.visit.log(REVOKED, note=token)
    return len(found)


def has_operator(store: ServiceStore) -> bool:
    """Tell whether there ever was an operator's token that was not revoked."""
    with store.checking() as rows:
        return bool(keep_tokens(store, rows, tokens.c.role == "operator"))


def parse_duration(text: str) -> float:
    """Read a duration in minutes, hours or days.

    >>> parse_duration("30d")
    2592000.0
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ConfigError(f"a duration is like 90m, 12h or 30d, not {text!r}")
    return int(found[1]) * _SECONDS[found[2]]


def _check(role: str, person: str | None, duration_s: float, *, may_grant: bool, note: str) -> None:
    if role not in ROLES:
        raise ConfigError(f"a role is one of {', '.join(ROLES)}, not {role!r}")
    if (role in BOUND) != (person is not None):
        raise ConfigError(f"a {role} token is for {'one' if role in BOUND else 'no single'} person")
    if not 60.0 <= duration_s <= _LONGEST_S:
        raise ConfigError("a token lasts from a minute to a year")
    if may_grant and role != "relying-party":
        raise ConfigError("only a relying party's token is told that it may grant")
    if len(note) > 64:
        raise ConfigError("a note has at most 64 characters")


def _digest(secret: str) -> str:
    """Hash a secret of 256 random bits: there is nothing to guess, so nothing need be slow."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _read(row: Row[Any]) -> Token:
    return Token(**{field: getattr(row, field) for field in Token.__slots__})
