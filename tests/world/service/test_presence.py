"""Replicas hear of each other, and lock what nobody can vouch for."""

import asyncio
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from acclock.errors import VaultError
from acclock.session.reasons import Reason
from acclock.world.service import presence as presence_module
from acclock.world.service.board import Board
from acclock.world.service.engine import Engine
from acclock.world.service.metrics import Metrics
from acclock.world.service.presence import Presence
from acclock.world.service.replicas import Told, exchange
from acclock.world.service.snapshots import Snapshot
from acclock.world.service.store import Store
from acclock.world.service.takeovers import take_over
from acclock.world.vault.keys import KeyFile
from acclock.world.vault.opening import open_vault


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
        presence = Presence(
            "r1",
            board=Board(),
            engine=engine,  # type: ignore[arg-type]
            metrics=Metrics(),
            store=Store(vault),
            vault=vault,
        )
        asyncio.run(presence.sync())
        monkeypatch.setattr(presence_module, "exchange", fail)
        asyncio.run(presence.sync())
        soon = presence.well, len(engine.locks)
        presence.heard_s -= 3.1
        asyncio.run(presence.sync())

    assert soon == (True, 0)
    assert (presence.well, len(engine.locks)) == (False, 1)


def test_without_the_file_of_its_vault_everything_locks(tmp_path: Path) -> None:
    engine = Calls()
    with open_vault(tmp_path / "vault", key_store=KeyFile(tmp_path / "key")) as vault:
        presence = Presence(
            "r1",
            board=Board(),
            engine=engine,  # type: ignore[arg-type]
            metrics=Metrics(),
            store=Store(vault),
            vault=vault,
        )
        asyncio.run(presence.sync())
        (tmp_path / "vault" / "vault.db").unlink()
        presence.heard_s -= 3.1
        asyncio.run(presence.sync())

    assert (presence.well, len(engine.locks)) == (False, 1)


def test_a_database_that_hangs_locks_everything_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = threading.Event()
    monkeypatch.setattr(presence_module, "_LEASE_S", 0.2)
    monkeypatch.setattr(presence_module, "exchange", lambda *_: hanging.wait(30.0))
    engine = Calls()

    async def hang(presence: Presence) -> None:
        syncing = asyncio.create_task(presence.run())
        while len(engine.locks) < 2:
            await asyncio.sleep(0.05)
        syncing.cancel()
        hanging.set()

    with open_vault(tmp_path / "vault", key_store=KeyFile(tmp_path / "key")) as vault:
        presence = Presence(
            "r1",
            board=Board(),
            engine=engine,  # type: ignore[arg-type]
            metrics=Metrics(),
            store=Store(vault),
            vault=vault,
        )
        asyncio.run(asyncio.wait_for(hang(presence), 20.0))

    assert not presence.well


def test_a_replica_is_believed_only_while_its_beat_rises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Snapshot(
        session="s" * 32, person="p" * 32, name="", device="bud", at=0.0, state="unlocked"
    )
    told = Told(
        replica="other",
        changed={other.session: ("t" * 16, other)},
        held=frozenset({other.session}),
        tokens=frozenset(),
        kinds=[],
        last=None,
    )
    board = Board()
    engine = Engine(Metrics())
    seen = []
    with open_vault(tmp_path / "vault", key_store=KeyFile(tmp_path / "key")) as vault:
        store = Store(vault)
        ours = Presence(
            "ours", board=board, engine=engine, metrics=Metrics(), store=store, vault=vault
        )
        start_s = time.monotonic()
        for after_s, speaks in [(0, True), (0.5, False), (1, True), (1.5, False), (4.5, False)]:
            if speaks:
                take_over(store, other.person, other.session)
                exchange(store, told)
            monkeypatch.setattr(time, "monotonic", lambda now_s=start_s + after_s: now_s)
            asyncio.run(ours.sync())
            seen.append(len(board.remote))

    # unknown at first, believed once its beat was seen to rise, dead when it rises no more
    assert seen == [0, 0, 1, 1, 0]


def test_a_session_of_ours_that_says_nothing_is_not_vouched_for() -> None:
    silent = Snapshot(
        session="s", person="p", name="anna", device="bud", at=0.0, state="unlocked", heard_s=-1e9
    )

    @dataclass
    class Watched:
        snapshot: Snapshot

    @dataclass
    class Live:
        watching: Watched

    board = Board()
    board.live["s"] = Live(Watched(silent))  # type: ignore[assignment]

    (told,) = board.snapshots()

    assert (told.state, told.reason) == ("locked", Reason.STALE)
