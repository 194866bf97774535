"""Every background task of a running service is killed in turn: locked, told, and back again."""

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from acclock.service.auth.tokens import list_tokens, revoke_token
from acclock.service.client import StreamClient
from acclock.service.replicas.exchange import ReplicaReport, exchange
from acclock.service.streams.snapshots import SessionSnapshot
from acclock.simulation import Scene, draw_person, simulate

if TYPE_CHECKING:
    from tests.service.conftest import Running

WORN = simulate(draw_person(0), Scene(duration_s=150.0, session=1)).recording


def wait(until: Callable[[], bool], *, patience_s: float = 30.0) -> float:
    """Wait until something is so, and give how long that took."""
    begun_s = time.monotonic()
    while not until():
        assert time.monotonic() - begun_s < patience_s, "it does not happen"
        time.sleep(0.02)
    return time.monotonic() - begun_s


@dataclass
class Wearer:
    """Anna's earphone, which streams from a thread of its own and notes what it is told."""

    running: "Running"
    person: str = "anna"
    messages: list[dict[str, Any]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def state(self) -> str:
        """What the client was told last."""
        told = [one["state"] for one in self.messages if "state" in one]
        return told[-1] if told else "locked"

    def stream(self, secret: str) -> None:
        asyncio.run(self._stream(secret))

    async def _stream(self, secret: str) -> None:
        async with StreamClient(self.running.ws, secret, person=self.person) as client:
            hearing = asyncio.create_task(self._hear(client))
            begun_s = time.monotonic()
            for start in range(0, len(WORN) - 24, 25):
                if self.over.is_set() or hearing.done():
                    break
                part = WORN.samples[:, start : start + 25]
                await client.send(part, time_us=start * 10_000, period_us=10_000)
                await asyncio.sleep(begun_s + (start + 25) / 100 - time.monotonic())
            hearing.cancel()
        self.over.set()

    async def _hear(self, client: StreamClient) -> None:
        async for message in client.hear():
            self.messages.append(message)


@contextmanager
def wearing(running: "Running", *, person: str = "anna") -> Iterator[Wearer]:
    """Stream somebody, and let another factor open the session."""
    wearer, secret = Wearer(running, person), running.token("device", person)

    def stream() -> None:
        try:
            wearer.stream(secret)
        finally:
            wearer.over.set()

    thread = threading.Thread(target=stream)
    thread.start()
    try:
        wait(lambda: bool(wearer.messages) or wearer.over.is_set())
        unlock(wearer)
        yield wearer
    finally:
        wearer.over.set()
        thread.join(30.0)


def unlock(wearer: Wearer) -> None:
    """Bring grants until the session is open."""
    with wearer.running.client(wearer.running.token("operator")) as operator:

        def is_open() -> bool:
            path = f"/v1/people/{wearer.person}/grant"
            operator.post(path, json={"duration_s": 600})
            time.sleep(0.5)
            return wearer.state == "unlocked"

        wait(is_open, patience_s=40.0)


def ask(running: "Running", path: str) -> httpx.Response:
    with running.client(running.token("operator")) as operator:
        return operator.get(path)


def on_the_loop(running: "Running", work: Callable[[], object]) -> None:
    loop = running.service.engine._loop
    assert loop is not None
    loop.call_soon_threadsafe(work)


def tasks_named(name: str) -> list["asyncio.Task[Any]"]:
    def names(task: "asyncio.Task[Any]") -> tuple[str, str]:
        return task.get_name(), getattr(task.get_coro(), "__name__", "")

    return [task for task in asyncio.all_tasks() if name in names(task)]


def throw(running: "Running", name: str) -> None:
    """Let whatever a task waits for fail: the error is raised in the middle of its coroutine."""

    def work() -> None:
        for task in tasks_named(name):
            waits_for: asyncio.Future[Any] = task._fut_waiter  # type: ignore[attr-defined]
            waits_for.set_exception(RuntimeError("a bug"))

    on_the_loop(running, work)


def cancel(running: "Running", name: str) -> None:
    on_the_loop(running, lambda: [task.cancel() for task in tasks_named(name)])


def break_the_engine(running: "Running", _: str) -> None:
    engine = running.service.engine

    def fail_once() -> dict[str, Any]:
        del engine._tick
        raise RuntimeError("a bug")

    engine._tick = fail_once  # type: ignore[method-assign]


def end_the_engine(running: "Running", _: str) -> None:
    running.service.engine._running = False


Kill = Callable[["Running", str], None]
KILLS: dict[str, tuple[str, Kill]] = {
    "replicas by an error": ("replicas", throw),
    "replicas by a cancellation": ("replicas", cancel),
    "engine by an error": ("engine", break_the_engine),
    "engine by its end": ("engine", end_the_engine),
    "engine by a cancellation": ("engine", cancel),
}


@pytest.mark.parametrize("kill", KILLS)
def test_a_task_that_ends_locks_is_told_and_runs_again(
    running: "Running", caplog: pytest.LogCaptureFixture, kill: str
) -> None:
    name, end = KILLS[kill]
    metrics = running.service.metrics
    before = metrics.counted("task_failures", name)

    with wearing(running) as wearer, caplog.at_level(logging.ERROR):
        assert ask(running, "/v1/people/anna/state").json()["state"] == "unlocked"
        end(running, name)
        locked_s = wait(lambda: wearer.state == "locked")
        wait(lambda: running.service.ready)
        unlock(wearer)
        state = ask(running, "/v1/people/anna/state").json()["state"]
        shown = ask(running, "/metrics").text

    assert locked_s < 5.0  # at once on a machine that has time
    assert state == "unlocked"
    assert metrics.counted("task_failures", name) == before + 1
    assert f'acclock_task_failures_total{{kind="{name}"}}' in shown
    assert any(one.message.startswith(f"the task {name} ") for one in caplog.records)


def test_posts_begin_anew_when_the_task_that_ends_them_fails(
    running: "Running", caplog: pytest.LogCaptureFixture
) -> None:
    samples = running.later.samples.T[:100].tolist()
    message = {"sequence": 1, "time_us": 0, "period_us": 10_000, "samples": samples}
    metrics = running.service.metrics

    with running.client(running.token("device", "anna")) as phone, caplog.at_level(logging.ERROR):
        first = phone.post("/v1/push", json=message).json()
        throw(running, "pushes")
        wait(lambda: metrics.counted("task_failures", "pushes") == 1)
        listed = [one["session"] for one in ask(running, "/v1/sessions").json()["sessions"]]
        # a session that begins while the task is down is ended again: wait until it runs
        wait(lambda: len(caplog.records) > 0)
        time.sleep(1.0)
        again = phone.post("/v1/push", json=message).json()
        live = list(running.service.registry.live)
        ended_s = wait(lambda: again["session"] not in running.service.registry.live)

    assert first["session"] not in listed
    assert (again["state"], again["session"] in live) == ("locked", True)
    assert again["session"] != first["session"]
    assert ended_s > 3.0  # by silence, so the task runs
    assert "the task pushes met an unexpected RuntimeError" in caplog.text


@pytest.mark.parametrize("part", ["_send_all", "_listen", "_notice_silence"])
def test_a_part_of_a_connection_that_fails_ends_its_session(
    running: "Running", part: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = running.service.metrics.counted("task_failures", "stream")

    with wearing(running) as wearer:
        throw(running, part)
        wait(wearer.over.is_set)
        wait(lambda: not running.service.registry.live)
        state = ask(running, "/v1/people/anna/state").json()["state"]

    assert state == "locked"
    assert running.service.metrics.counted("task_failures", "stream") == before + 1
    assert "RuntimeError: a bug" in caplog.text


class NewerSnapshot(SessionSnapshot):
    """How a later version would write a session down."""

    def pack(self) -> str:
        return json.dumps(json.loads(super().pack()) | NEWER[self.device])


NEWER: dict[str, dict[str, object]] = {
    "reason": {"reason": "abducted"},
    "field": {"mood": "calm"},
    "state": {"state": "ajar"},
    "time": {"at": "noon"},
    "no time": {"at": float("nan")},
}


def tell_from_the_future(running: "Running") -> None:
    """Write rows as a replica of a later version would."""
    told = [
        NewerSnapshot(session=f"{kind:x<32}", person="p" * 32, name="", device=kind, at=0.0)
        for kind in NEWER
    ]
    rows = ReplicaReport(
        replica="newer",
        changed={one.session: ("t" * 16, one) for one in told},
        held=frozenset(one.session for one in told),
        tokens=frozenset(),
        kinds=[("unlocked", one) for one in told],
        last=None,
    )
    exchange(running.service.store, rows)


def test_rows_of_a_newer_version_are_skipped_and_counted(running: "Running") -> None:
    metrics = running.service.metrics
    failures = metrics.counted("task_failures", "replicas")

    tell_from_the_future(running)
    wait(lambda: metrics.counted("unreadable_rows", "stream") == len(NEWER))
    time.sleep(1.2)

    assert metrics.counted("unreadable_rows", "stream") == len(NEWER)  # each once
    assert metrics.counted("unreadable_rows", "change") == len(NEWER)
    assert metrics.counted("task_failures", "replicas") == failures
    assert not ask(running, "/v1/sessions").json()["sessions"]
    assert running.service.ready


def test_beside_rows_of_a_newer_version_a_deletion_locks(running: "Running") -> None:
    vault = running.service.recognizer.vault
    vault.add("gina", vault.template("anna"))
    tell_from_the_future(running)

    with wearing(running, person="gina") as wearer:
        tell_from_the_future(running)
        vault.remove("gina")
        locked_s = wait(lambda: wearer.state == "locked")
        wait(wearer.over.is_set)

    assert locked_s < 5.0
    assert wearer.messages[-1] == {"type": "forgotten"}


def test_beside_rows_of_a_newer_version_a_revocation_ends_the_stream(running: "Running") -> None:
    tell_from_the_future(running)

    with wearing(running) as wearer:
        store = running.service.store
        (live,) = running.service.registry.live.values()
        assert live.token in {one.token for one in list_tokens(store)}
        tell_from_the_future(running)
        revoke_token(store, live.token)
        ended_s = wait(lambda: not running.service.registry.live)
        wait(wearer.over.is_set)

    assert ended_s < 5.0
    assert wearer.messages[-1] == {"type": "revoked"}
