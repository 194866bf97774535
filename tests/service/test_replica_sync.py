"""Replicas hear of each other, and lock what nobody can vouch for."""

import asyncio
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from acclock.errors import VaultError
from acclock.live.answers import Reason
from acclock.service.metrics import Metrics
from acclock.service.replicas import sync as sync_module
from acclock.service.replicas.exchange import ReplicaReport, exchange, take_over
from acclock.service.replicas.sync import ReplicaSync
from acclock.service.store import ServiceStore
from acclock.service.streams.engine import Engine
from acclock.service.streams.registry import SessionRegistry
from acclock.service.streams.snapshots import SessionSnapshot
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault


@dataclass
class Calls:
    """An engine that notes how often everything had to lock."""

    locks: list[float] = field(default_factory=list)

    def lock_all(self) -> None:
        self.locks.append(time.monotonic())


def test_without_the_database_everything_locks_after_three_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise VaultError("the database cannot be reached")

    engine = Calls()
    with open_vault(tmp_path / "vault", key_store=KeyFile(tmp_path / "key")) as vault:
        replica_sync = ReplicaSync(
            "r1",
            registry=SessionRegistry(),
            engine=engine,  # type: ignore[arg-type]
            metrics=Metrics(),
            store=ServiceStore(vault),
            vault=vault,
        )
        asyncio.run(replica_sync.sync())
        monkeypatch.setattr(sync_module, "exchange", fail)
        asyncio.run(replica_sync.sync())
        soon = replica_sync.well, len(engine.locks)
        replica_sync.received_s -= 3.1
        asyncio.run(replica_sync.sync())

    assert soon == (True, 0)
    assert (replica_sync.well, len(engine.locks)) == (False, 1)


def test_without_the_file_of_its_vault_everything_locks(tmp_path: Path) -> None:
    engine = Calls()
    with open_vault(tmp_path / "vault", key_store=KeyFile(tmp_path / "key")) as vault:
        replica_sync = ReplicaSync(
            "r1",
            registry=SessionRegistry(),
            engine=engine,  # type: ignore[arg-type]
            metrics=Metrics(),
            store=ServiceStore(vault),
            vault=vault,
        )
        asyncio.run(replica_sync.sync())
        (tmp_path / "vault" / "vault.db").unlink()
        replica_sync.received_s -= 3.1
        asyncio.run(replica_sync.sync())

    assert (replica_sync.well, len(engine.locks)) == (False, 1)


def test_a_database_that_hangs_locks_everything_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = threading.Event()
    monkeypatch.setattr(sync_module, "_LEASE_S", 0.2)
    monkeypatch.setattr(sync_module, "exchange", lambda *_: hanging.wait(30.0))
    engine = Calls()

    async def hang(replica_sync: ReplicaSync) -> None:
        syncing = asyncio.create_task(replica_sync.run())
        while len(engine.locks) < 2:
            await asyncio.sleep(0.05)
        syncing.cancel()
        hanging.set()

    with open_vault(tmp_path / "vault", key_store=KeyFile(tmp_path / "key")) as vault:
        replica_sync = ReplicaSync(
            "r1",
            registry=SessionRegistry(),
            engine=engine,  # type: ignore[arg-type]
            metrics=Metrics(),
            store=ServiceStore(vault),
            vault=vault,
        )
        asyncio.run(asyncio.wait_for(hang(replica_sync), 20.0))

    assert not replica_sync.well


def test_a_replica_is_believed_only_while_its_beat_rises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = SessionSnapshot(
        session="s" * 32, person="p" * 32, name="", device="bud", at=0.0, state="unlocked"
    )
    told = ReplicaReport(
        replica="other",
        changed={other.session: ("t" * 16, other)},
        held=frozenset({other.session}),
        tokens=frozenset(),
        kinds=[],
        last=None,
    )
    registry = SessionRegistry()
    engine = Engine(Metrics())
    seen = []
    with open_vault(tmp_path / "vault", key_store=KeyFile(tmp_path / "key")) as vault:
        store = ServiceStore(vault)
        ours = ReplicaSync(
            "ours", registry=registry, engine=engine, metrics=Metrics(), store=store, vault=vault
        )
        start_s = time.monotonic()
        for after_s, speaks in [(0, True), (0.5, False), (1, True), (1.5, False), (4.5, False)]:
            if speaks:
                take_over(store, other.person, other.session)
                exchange(store, told)
            monkeypatch.setattr(time, "monotonic", lambda now_s=start_s + after_s: now_s)
            asyncio.run(ours.sync())
            seen.append(len(registry.remote))

    # unknown at first, believed once its beat was seen to rise, dead when it rises no more
    assert seen == [0, 0, 1, 1, 0]


def test_a_session_of_ours_that_says_nothing_is_not_vouched_for() -> None:
    silent = SessionSnapshot(
        session="s",
        person="p",
        name="anna",
        device="bud",
        at=0.0,
        state="unlocked",
        received_s=-1e9,
    )

    @dataclass
    class Watched:
        snapshot: SessionSnapshot

    @dataclass
    class Live:
        stream_session: Watched

    registry = SessionRegistry()
    registry.live["s"] = Live(Watched(silent))  # type: ignore[assignment]

    (told,) = registry.snapshots()

    assert (told.state, told.reason) == ("locked", Reason.STALE)
