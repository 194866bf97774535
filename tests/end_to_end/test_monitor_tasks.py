"""Every background task of a running monitor is killed in turn, and its vault is taken away."""

import asyncio
import shutil
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acclock.errors import MonitorError, TaskFailedError
from acclock.live.events import SessionEvent, SessionStatus, State
from acclock.live.grants import Grant
from acclock.matching.template import Template
from acclock.monitor.enrolled_user import EnrolledUser
from acclock.monitor.monitor import Monitor
from acclock.monitor.runner import MonitorRunner
from acclock.recognizer import Recognizer, open_recognizer
from acclock.simulation import Scene, draw_person, simulate
from acclock.sinks.sink import state_after
from acclock.sources.replay import ReplaySource
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault

if TYPE_CHECKING:
    from tests.conftest import Postgres

WORN = simulate(draw_person(0), Scene(duration_s=40.0, session=1)).recording
SPEED = 4.0
AT_ONCE_S = 0.9
"""Well under a second, on a machine that has other things to do too."""


@dataclass
class Output:
    """An output that knows whether it is locked, and when it was last told so."""

    name: str = "output"
    told: list[SessionEvent] = field(default_factory=list)
    state: State = "locked"
    locked_s: float = inf

    async def notify(self, event: SessionEvent) -> None:
        self.told.append(event)
        if self.state == "unlocked" and state_after(event) == "locked":
            self.locked_s = time.monotonic()
        self.state = state_after(event)

    async def refresh(self, status: SessionStatus) -> None:
        pass

    async def close(self) -> None:
        pass


@dataclass
class Worn:
    """Anna's monitor, in real time and somewhat faster, with all that belongs to it."""

    recognizer: Recognizer
    folder: Path
    output: Output = field(default_factory=Output)
    reports: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.user = EnrolledUser(self.recognizer, "anna")
        self.source = ReplaySource(WORN, name="replay", speed=SPEED, loop=True)
        self._monitors: list[Monitor] = []

    @property
    def monitor(self) -> Monitor:
        return self._monitors[0]

    def run(self, story: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Keep the monitor running while a story is told, which begins with an open session."""
        asyncio.run(self._run(story))

    async def _run(self, story: Callable[[], Coroutine[Any, Any, None]]) -> None:
        post = MonitorRunner(
            user=self.user,
            source=self.source,
            sinks=[self.output],
            home=self.folder,
            socket=self.folder / "monitor.sock",
            report=self.reports.append,
        )
        keeping = asyncio.create_task(post.keep(on_ready=self._monitors.append))
        await soon(lambda: self._monitors or keeping.done())
        try:
            await self.unlock()
            await story()
        finally:
            self.monitor.stop()
            await keeping

    async def unlock(self) -> None:
        def is_open() -> bool:
            self.monitor.grant(Grant(person="anna", expires_s=inf))
            return self.output.state == "unlocked"

        await soon(is_open)

    async def see_it_lock(self) -> float:
        """Give how long it takes from now until the output is locked."""
        begun_s = time.monotonic()
        await soon(lambda: self.output.state == "locked")
        return self.output.locked_s - begun_s


async def soon(true: Callable[[], object], *, patience_s: float = 30.0) -> None:
    deadline_s = time.monotonic() + patience_s
    while not true():
        assert time.monotonic() < deadline_s, "it did not happen in time"
        await asyncio.sleep(0.02)


def fail_once(place: object, name: str) -> None:
    """Let a method raise the next time, and be itself again after that."""

    def fail(*_: object) -> object:
        setattr(place, name, method)
        raise RuntimeError("a secret")

    method = getattr(place, name)
    setattr(place, name, fail)


def task_named(name: str) -> "asyncio.Task[Any]":
    (task,) = (one for one in asyncio.all_tasks() if one.get_name() == name)
    return task


def cancel(name: str) -> Callable[[Worn], None]:
    def kill(_: Worn) -> None:
        task_named(name).cancel()

    return kill


def throw(name: str) -> Callable[[Worn], None]:
    """Let whatever a task waits for fail."""

    def kill(_: Worn) -> None:
        waits_for: asyncio.Future[Any] = task_named(name)._fut_waiter  # type: ignore[attr-defined]
        waits_for.set_exception(RuntimeError("a secret"))

    return kill


KILLS: dict[str, tuple[str, Callable[[Worn], None]]] = {
    "source by an error": ("source", lambda worn: fail_once(worn.monitor, "_take")),
    "source by a cancellation": ("source", cancel("source")),
    "clock by an error": ("clock", throw("clock")),
    "clock by a cancellation": ("clock", cancel("clock")),
    "vault by an error": ("vault", lambda worn: fail_once(worn.user, "look")),
    "vault by a cancellation": ("vault", cancel("vault")),
    "learning by an error": ("learning", lambda worn: fail_once(worn.user, "learn")),
    "learning by a cancellation": ("learning", cancel("learning")),
    "output by an error": ("output output", throw("output output")),
    "output by a cancellation": ("output output", cancel("output output")),
}


@pytest.mark.parametrize("kill", KILLS)
def test_a_task_of_the_monitor_that_ends_locks_is_reported_and_runs_again(
    recognizer: Recognizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kill: str
) -> None:
    monkeypatch.setattr("acclock.monitor.monitor._LESSON_S", 0.5)
    worn, (name, end) = Worn(recognizer, tmp_path), KILLS[kill]
    took_s: list[float] = []

    async def story() -> None:
        end(worn)
        took_s.append(await worn.see_it_lock())
        await soon(lambda: worn.reports)
        await worn.unlock()

    worn.run(story)

    kinds = [event.kind for event in worn.output.told]
    locked = next(event for event in worn.output.told if event.kind == "locked")
    assert took_s[0] < AT_ONCE_S
    assert locked.status.reason == "a part of the program has failed"
    assert worn.reports[0].startswith(f"the task {name} ")
    assert "secret" not in worn.reports[0]
    assert "trouble" in kinds
    assert kinds.count("unlocked") == 2
    assert worn.monitor.task_failures[name] == (0 if "output" in name else 1)


def test_a_task_that_keeps_failing_ends_the_monitor_locked(
    recognizer: Recognizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acclock.monitor.monitor._MOST_FAILURES", 3)
    worn = Worn(recognizer, tmp_path)

    async def story() -> None:
        worn.user.look = lambda: 1 / 0  # type: ignore[method-assign, assignment, return-value]
        await soon(lambda: worn.output.told[-1].kind == "stopped")

    with pytest.raises(TaskFailedError, match="the task vault ended 3 times in a row"):
        worn.run(story)

    assert worn.output.state == "locked"
    assert worn.monitor.task_failures["vault"] == 2  # the third is what is raised


def test_a_session_that_cannot_be_locked_ends(recognizer: Recognizer, tmp_path: Path) -> None:
    worn = Worn(recognizer, tmp_path)
    took_s: list[float] = []

    async def story() -> None:
        worn.monitor._session.break_off = lambda *_: 1 / 0  # type: ignore[method-assign, assignment]
        task_named("learning").cancel()
        took_s.append(await worn.see_it_lock())

    with pytest.raises(MonitorError, match="could not be locked"):
        worn.run(story)

    assert took_s[0] < AT_ONCE_S
    assert worn.output.told[-1].kind == "stopped"


def remove_vault(home: Path) -> None:
    shutil.rmtree(home)


def move_vault(home: Path) -> None:
    home.rename(home.with_name("elsewhere"))


def remove_database(home: Path) -> None:
    (home / "vault.db").unlink()


def replace_database(home: Path) -> None:
    shutil.copyfile(home / "vault.db", home / "copy.db")
    (home / "copy.db").replace(home / "vault.db")


@pytest.mark.parametrize("take_away", [remove_vault, move_vault, remove_database, replace_database])
def test_a_vault_that_is_gone_locks_at_once(
    recognizer: Recognizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    take_away: Callable[[Path], None],
) -> None:
    monkeypatch.setattr("acclock.monitor.monitor._MOST_FAILURES", 2)
    (tmp_path / "post").mkdir()
    worn, took_s = Worn(recognizer, tmp_path / "post"), list[float]()

    async def story() -> None:
        take_away(tmp_path / "home")
        took_s.append(await worn.see_it_lock())
        await soon(lambda: worn.output.told[-1].kind == "stopped")

    with pytest.raises(TaskFailedError, match=r"the vault is gone: .* was removed or replaced"):
        worn.run(story)

    assert took_s[0] < AT_ONCE_S


def test_a_database_server_that_is_gone_locks_at_once_and_may_come_back(
    own_postgres: "Postgres", enrolled: Template, tmp_path: Path
) -> None:
    key_store, took_s = KeyFile(tmp_path / "key"), list[float]()
    with open_vault(tmp_path / "home", url=own_postgres.url, key_store=key_store) as vault:
        vault.add("anna", enrolled)
        worn = Worn(open_recognizer(vault), tmp_path)

        async def story() -> None:
            begun_s = time.monotonic()
            stopping = asyncio.create_task(asyncio.to_thread(own_postgres.stop))
            await worn.see_it_lock()
            took_s.append(worn.output.locked_s - begun_s)
            await stopping
            await asyncio.to_thread(own_postgres.start)
            await worn.unlock()

        worn.run(story)

    assert took_s[0] < 2 * AT_ONCE_S  # the server itself takes a moment to end
    assert worn.monitor.task_failures["vault"] >= 1


def test_a_vault_that_does_not_answer_locks(
    recognizer: Recognizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acclock.monitor.monitor._ANSWER_S", 0.3)
    worn, look, hung = Worn(recognizer, tmp_path), EnrolledUser.look, threading.Event()

    def hang() -> Any:  # noqa: ANN401 - as look answers
        hung.wait()
        return look(worn.user)

    async def story() -> None:
        worn.user.look = hang  # type: ignore[method-assign]
        await worn.see_it_lock()
        hung.set()
        await worn.unlock()

    worn.run(story)

    assert "failed: the vault has not answered for 0.3 s" in worn.reports[0]


def test_learning_that_waits_for_the_disk_delays_no_lock(
    recognizer: Recognizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acclock.monitor.monitor._LESSON_S", 0.1)
    worn, took_s = Worn(recognizer, tmp_path), list[float]()
    learning, learned = threading.Event(), threading.Event()

    def learn(_: object) -> bool:
        learning.set()
        return learned.wait()

    async def story() -> None:
        worn.user.learn = learn  # type: ignore[method-assign, assignment]
        await soon(learning.is_set)
        recognizer.vault.remove("anna")
        took_s.append(await worn.see_it_lock())
        learned.set()

    with pytest.raises(MonitorError, match="anna is no longer in the vault"):
        worn.run(story)

    assert took_s[0] < AT_ONCE_S
