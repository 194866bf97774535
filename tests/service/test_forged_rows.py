"""Rows that somebody without the key inserts into the database of a running service."""

import asyncio
import hashlib
import re
import sqlite3
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acclock.service.auth.tokens import create_token
from acclock.service.store import ServiceStore
from acclock.service.streams.snapshots import SessionSnapshot
from acclock.service.streams.stream_session import StreamSession
from acclock.vault.opening import open_vault

if TYPE_CHECKING:
    from tests.service.conftest import Running, Server

Play = Callable[[Awaitable[Any]], Any]


def insert(folder: Path, table: str, **row: object) -> None:
    columns, marks = ", ".join(row), ", ".join("?" * len(row))
    with sqlite3.connect(folder / "vault.db", timeout=10.0) as connection:
        connection.execute(
            f"INSERT OR REPLACE INTO acclock_{table} ({columns}) VALUES ({marks})",  # noqa: S608
            list(row.values()),
        )
    connection.close()


def test_an_inserted_order_does_not_open_a_live_session(
    running: "Running", play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted = list[float]()
    monkeypatch.setattr(StreamSession, "grant", lambda _, duration_s: granted.append(duration_s))

    async def stream() -> None:
        socket, _ = await running.greet(running.token("device", "anna"))
        await socket.recv()
        (name,) = running.service.registry.live
        folder = running.service.config.folder
        insert(folder, "orders", stream=name, duration_s=600.0, at=time.time())
        await asyncio.sleep(1.5)
        await socket.close()

    play(stream())

    assert granted == []
    with running.client(running.token("operator")) as operator:
        events = operator.get("/v1/audit").json()["events"]
        metrics = operator.get("/metrics").text
    assert any(re.match(r"acclock_orders \d+: it has no MAC", str(one["note"])) for one in events)
    assert 'acclock_refused_rows_total{kind="orders"} 1' in metrics


def test_an_inserted_session_is_not_told_as_unlocked(running: "Running") -> None:
    folder, vault = running.service.config.folder, running.service.recognizer.vault
    anna = vault.person("anna").person
    status = SessionSnapshot(
        session="5" * 32, person=anna, name="", device="bud", at=time.time(), state="unlocked"
    ).pack()
    session = {"stream": "5" * 32, "replica": "x", "person": anna, "token": "t", "status": status}
    insert(folder, "streams", **session)

    told = set()
    with running.client(running.token("relying-party", "anna")) as asker:
        for beat in range(1, 6):
            insert(folder, "replicas", replica="x", beat=beat, seen=time.time())
            time.sleep(0.6)
            told.add(asker.get("/v1/people/anna/state").json()["state"])

    assert told == {"locked"}


def test_an_inserted_token_is_unknown(running: "Running") -> None:
    secret = "acclock_" + "y" * 43
    digest, now = hashlib.sha256(secret.encode()).hexdigest(), time.time()
    row = {"token": "f" * 16, "digest": digest, "role": "operator", "may_grant": False, "note": ""}
    insert(running.service.config.folder, "tokens", **row, created=now, expires=now + 600)

    with running.client(secret) as client:
        assert client.get("/v1/people").status_code == 401


def test_tokens_of_an_older_version_are_named_at_the_first_start_alone(
    server_at: Callable[..., "Server"], tmp_path: Path
) -> None:
    server, now = server_at(tmp_path / "home"), time.time()
    with open_vault(server.home) as vault:
        create_token(ServiceStore(vault), "viewer", duration_s=600, note="kept")
    row = {"token": "f" * 16, "digest": "0" * 64, "role": "operator", "may_grant": False}
    insert(server.home, "tokens", **row, note="hall", created=now, expires=now + 600)

    server.start()
    first = server.said.read_text()
    server.kill()
    server.start()

    assert f"the operator token {'f' * 16} (hall)" in first
    assert "make it again" in first
    assert "kept" not in first
    assert server.operator.startswith("acclock_")  # there was no operator any more
    assert server.said.read_text().count("make it again") == 1
