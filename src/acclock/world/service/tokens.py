"""Tokens: made once, shown once, kept only as a digest, good for a while, revocable."""

import hashlib
import re
import secrets
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, delete, func, insert, select

from acclock.errors import ConfigError
from acclock.world.service.refusals import RefusedError
from acclock.world.service.roles import BOUND, ROLES, Caller, Role
from acclock.world.service.store import Store
from acclock.world.service.tables import tokens

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
    store: Store,
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
    row = {field: getattr(made, field) for field in Token.__slots__}
    with store.writing() as connection:
        connection.execute(insert(tokens), row | {"digest": _digest(secret)})
    return secret, made


def check_token(store: Store, secret: str) -> Caller:
    """Say who calls, or refuse."""
    row = None
    if _FORM.fullmatch(secret):
        with store.reading() as connection:
            query = select(tokens).where(tokens.c.digest == _digest(secret))
            row = connection.execute(query).first()
    if row is None or row.expires <= time.time():
        raise RefusedError(401, "unknown_token", "the token is unknown, revoked or has expired")
    return Caller(token=row.token, role=row.role, person=row.person, may_grant=row.may_grant)


def list_tokens(store: Store) -> list[Token]:
    """Give all tokens, the oldest first."""
    with store.reading() as connection:
        rows = connection.execute(select(tokens).order_by(tokens.c.created)).all()
    return [_read(row) for row in rows]


def revoke_token(store: Store, token: str) -> None:
    """Make a token worthless; its streams end within a second."""
    with store.writing() as connection:
        gone = connection.execute(delete(tokens).where(tokens.c.token == token)).rowcount
    if not gone:
        raise RefusedError(404, "unknown_token_number", f"there is no token {token!r}")


def revoke_person(store: Store, person: str) -> None:
    """Make every token that is about one person worthless."""
    with store.writing() as connection:
        connection.execute(delete(tokens).where(tokens.c.person == person))


def has_operator(store: Store) -> bool:
    """Tell whether there ever was an operator's token that was not revoked."""
    with store.reading() as connection:
        query = select(func.count()).select_from(tokens).where(tokens.c.role == "operator")
        return bool(connection.execute(query).scalar())


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
