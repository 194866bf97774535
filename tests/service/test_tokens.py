"""Tokens are shown once, kept as digests, and end."""

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from acclock.errors import AccLockError, ConfigError
from acclock.service.auth import limits
from acclock.service.auth.roles import Role
from acclock.service.auth.tokens import (
    check_token,
    create_token,
    has_operator,
    list_tokens,
    parse_duration,
    revoke_person,
    revoke_token,
)
from acclock.service.refusals import RefusedError
from acclock.service.store import ServiceStore
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ServiceStore]:
    with open_vault(tmp_path / "vault", key_store=KeyFile(tmp_path / "key")) as vault:
        yield ServiceStore(vault)


def test_a_token_tells_who_calls(store: ServiceStore) -> None:
    secret, made = create_token(store, "device", duration_s=60, person="7" * 32)

    caller = check_token(store, secret)

    assert (caller.token, caller.role, caller.person) == (made.token, "device", "7" * 32)


def test_the_secret_is_in_no_file(store: ServiceStore, tmp_path: Path) -> None:
    secret, _ = create_token(store, "operator", duration_s=60)

    sqlite3.connect(tmp_path / "vault" / "vault.db").execute("PRAGMA wal_checkpoint").fetchone()

    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not any(secret.removeprefix("acclock_").encode() in path.read_bytes() for path in files)


@pytest.mark.parametrize("secret", ["", "acclock_", "acclock_" + "x" * 43, "é" * 51, "a" * 10_000])
def test_what_is_no_token_is_unknown(store: ServiceStore, secret: str) -> None:
    with pytest.raises(RefusedError) as refused:
        check_token(store, secret)

    assert refused.value.status == 401


def test_a_token_ends_when_it_expires_or_is_revoked(
    store: ServiceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    expiring, _ = create_token(store, "viewer", duration_s=60)
    revoked, made = create_token(store, "viewer", duration_s=6000)
    hers, _ = create_token(store, "device", duration_s=6000, person="7" * 32)
    now = time.time()

    revoke_token(store, made.token)
    revoke_person(store, "7" * 32)
    monkeypatch.setattr(time, "time", lambda: now + 61)

    for secret in (expiring, revoked, hers):
        with pytest.raises(RefusedError):
            check_token(store, secret)


@pytest.mark.parametrize(
    ("role", "about"),
    [
        ("device", {}),
        ("viewer", {"person": "7" * 32}),
        ("operator", {"may_grant": True}),
        ("operator", {"duration_s": 1.0}),
        ("operator", {"duration_s": 1e9}),
        ("operator", {"note": "x" * 65}),
        ("king", {}),
    ],
)
def test_tokens_that_make_no_sense_are_not_made(
    store: ServiceStore, role: Role, about: dict[str, object]
) -> None:
    with pytest.raises(ConfigError):
        create_token(store, role, **{"duration_s": 60.0} | about)  # type: ignore[arg-type]

    assert list_tokens(store) == []


def test_the_first_operator_is_noticed(store: ServiceStore) -> None:
    assert not has_operator(store)
    create_token(store, "operator", duration_s=60)
    assert has_operator(store)


@pytest.mark.parametrize("text", ["", "d", "30", "-1d", "1 d", "1y"])
def test_durations_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(AccLockError, match="90m"):
        parse_duration(text)


def test_what_one_replica_counts_the_other_counts_too(store: ServiceStore, tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault", key_store=KeyFile(tmp_path / "key")) as vault:
        other = ServiceStore(vault)
        for one in (store, other, store):
            limits.count(one, "verify", "anna", most=3)

        with pytest.raises(RefusedError) as refused:
            limits.count(other, "verify", "anna", most=3)
        limits.count(other, "verify", "ben", most=3)

    assert refused.value.status == 429
