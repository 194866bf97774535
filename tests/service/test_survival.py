"""A kill under load, a database that goes away, a full disk: locked, and nothing told is lost."""

import asyncio
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import httpx
import pytest
from websockets.exceptions import WebSocketException

from acclock.errors import AccLockError
from acclock.recordings import write
from acclock.service.api.uploads import read_recording
from acclock.service.auth.tokens import list_tokens
from acclock.service.client import StreamClient, StreamRefusedError
from acclock.service.refusals import RefusedError
from acclock.service.store import ServiceStore
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import Recording
from acclock.vault.opening import check, open_vault

if TYPE_CHECKING:
    from tests.conftest import Postgres
    from tests.service.conftest import Server

GONE = (OSError, httpx.HTTPError, WebSocketException, AccLockError)
"""What a caller may hear when the service dies under its hands."""


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A recording to enroll from, as it is uploaded."""
    path = tmp_path_factory.mktemp("worn") / "worn.npz"
    write(simulate(draw_person(2), Scene(duration_s=130.0)).recording, path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def later() -> Recording:
    """Anna, in a later session; longer than any outage."""
    return simulate(draw_person(0), Scene(duration_s=200.0, session=1)).recording


def wait(until: Callable[[], bool], *, patience_s: float = 60.0) -> float:
    begun_s = time.monotonic()
    while not until():
        assert time.monotonic() - begun_s < patience_s
        time.sleep(0.1)
    return time.monotonic() - begun_s


def status(server: "Server", path: str) -> int:
    with server.client() as client:
        return client.get(path).status_code


@dataclass
class Callers:
    """Threads that write and stream until told to stop, and remember what they were told."""

    server: "Server"
    body: bytes = b""
    later: Recording | None = None
    over: threading.Event = field(default_factory=threading.Event)
    people: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)
    """How each stream stood when it began."""
    decisions: int = 0
    changes: list[tuple[float, str, str]] = field(default_factory=list)
    """When streams heard of a change, of which kind, and why."""
    refusals: set[tuple[int, str]] = field(default_factory=set)

    @property
    def kinds(self) -> list[str]:
        return [kind for _, kind, _ in self.changes]

    def enroll(self) -> None:
        for number in count():
            name = f"new {number}"
            path = f"/v1/people?name={name}&consent=form {number}&filename=worn.npz"
            if self._ask(path, content=self.body) is not None:
                self.people.append(name)
            if self.over.wait(0.05):
                return

    def make_tokens(self) -> None:
        for number in count():
            wanted = {"role": "viewer", "duration_s": 600, "note": f"{number}"}
            if (made := self._ask("/v1/tokens", json=wanted)) is not None:
                self.tokens.append(made["token"])
            if self.over.wait(0.05):
                return

    def stream(self, person: str = "anna") -> None:
        """Stream for somebody; begin anew whenever the connection is lost."""
        while not self.over.is_set():
            try:
                asyncio.run(self._stream(person))
            except GONE:
                self.over.wait(0.3)

    def _ask(self, path: str, **what: Any) -> dict[str, Any] | None:  # noqa: ANN401
        try:
            with self.server.client() as operator:
                answer = operator.post(path, **what)
        except httpx.HTTPError:
            return None
        if answer.status_code == 201:
            return dict(answer.json())
        self.refusals.add((answer.status_code, answer.json()["error"]["code"]))
        return None

    async def _stream(self, person: str) -> None:
        assert self.later is not None
        samples, begun_s = self.later.samples, time.monotonic()
        async with StreamClient(
            self.server.ws, self.server.operator, person=person, device="bud"
        ) as client:
            self.begun.append(client.ready["state"])
            hearing = asyncio.ensure_future(self._hear(client))
            for start in range(0, samples.shape[1] - 25, 25):
                if self.over.is_set() or hearing.done():
                    break
                part = samples[:, start : start + 25]
                await client.send(part, time_us=start * 10_000, period_us=10_000)
                await asyncio.sleep(begun_s + (start + 25) / 100 - time.monotonic())
            hearing.cancel()

    async def _hear(self, client: StreamClient) -> None:
        async for message in client.hear():
            self.decisions += message["type"] == "decision"
            if message["type"] == "change":
                change = time.monotonic(), message["kind"], message["reason"]
                self.changes.append(change)


@contextmanager
def calling(*work: Callable[[], None], over: threading.Event) -> Iterator[None]:
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(60.0)


def check_kept(server: "Server", callers: Callers, *, database: str | None = None) -> None:
    """See that all that was acknowledged is there, each with a consent, and the log is whole."""
    with open_vault(server.home, url=database) as vault:
        check(vault)
        people = {person.name: person.person for person in vault.people()}
        events = {event.number: event for event in vault.events()}
        tokens = {one.token for one in list_tokens(ServiceStore(vault))}
    assert set(callers.people) <= set(people)
    assert set(callers.tokens) <= tokens
    notes = {event.person: event.note or "" for event in events.values() if event.note}
    for name, person in people.items():
        if name.startswith("new "):
            consent = events[int(notes[person].rpartition(" ")[2])]
            assert (consent.kind, consent.note) == ("consented", f"form {name[4:]}")


def test_a_kill_under_load_loses_nothing_that_was_acknowledged(
    server_at: Callable[..., "Server"], tmp_path: Path, body: bytes, later: Recording
) -> None:
    server = server_at(tmp_path / "home").start()
    callers = Callers(server, body, later)
    work = (callers.enroll, callers.make_tokens, callers.stream, partial(callers.stream, "ben"))

    with calling(*work, over=callers.over):
        wait(lambda: len(callers.people) >= 2 and len(callers.tokens) >= 10)
        wait(lambda: len(callers.begun) >= 2)
        told = len(callers.people), len(callers.tokens)
        server.kill()
        begun = len(callers.begun)
        server.start()
        wait(lambda: len(callers.begun) >= begun + 2)
        wait(lambda: len(callers.people) > told[0] + 1 and len(callers.tokens) > told[1] + 1)
    with server.client() as operator:
        listed = {one["name"] for one in operator.get("/v1/people").json()["people"]}
    server.kill()

    assert set(callers.begun) == {"locked"}
    assert callers.refusals == set()
    assert {"anna", "ben", *callers.people} <= listed
    check_kept(server, callers)


def ask_around(asker: httpx.Client) -> dict[int, str]:
    """Ask what needs the database, and what does not; give what was said, which was soon."""
    asked_s = time.monotonic()
    answers = [asker.get(f"/v1/{path}") for path in ("people", "people/anna/state", "audit")]
    assert time.monotonic() - asked_s < 10.0
    assert asker.get("/v1/health").status_code == 200
    time.sleep(0.2)
    return {answer.status_code: answer.json()["error"]["code"] for answer in answers}


@pytest.mark.parametrize("outage_s", [6.0, pytest.param(60.0, marks=pytest.mark.slow)])
def test_without_its_database_the_service_locks_says_so_and_recovers(
    server_at: Callable[..., "Server"],
    own_postgres: "Postgres",
    tmp_path: Path,
    later: Recording,
    outage_s: float,
) -> None:
    url = own_postgres.url
    server = server_at(tmp_path / "home", database=url).start()
    callers = Callers(server, later=later)
    server.await_ready()

    with calling(callers.make_tokens, callers.stream, over=callers.over), server.client() as asker:
        wait(lambda: callers.decisions > 0)
        asker.post("/v1/people/anna/grant", json={"duration_s": 600})
        wait(lambda: callers.kinds == ["unlocked"])
        own_postgres.stop()
        gone_s = time.monotonic()
        wait(lambda: callers.kinds == ["unlocked", "locked"])
        locked_s = callers.changes[-1][0] - gone_s
        wait(lambda: asker.get("/v1/ready").status_code == 503)
        refused: dict[int, str] = {}
        while time.monotonic() - gone_s < outage_s:
            refused |= ask_around(asker)
        with pytest.raises(StreamRefusedError, match="cannot be reached"):
            asyncio.run(callers._stream("anna"))
        told = len(callers.tokens)
        assert own_postgres.start()
        wait(lambda: asker.get("/v1/ready").status_code == 200)
        wait(lambda: len(callers.tokens) > told)
    server.kill()

    assert locked_s < 20.0  # three seconds on a machine that has time
    assert refused == {503: "vault_unavailable"}
    assert callers.refusals == {(503, "vault_unavailable")}
    assert len(callers.begun) == 1  # the stream itself was never lost
    check_kept(server, callers, database=url)


@pytest.fixture
def small_disk(tmp_path: Path, absent: Callable[[str], NoReturn]) -> Iterator[Path]:
    """A file system of three megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:  # noqa: S603
        absent("this user may not mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)  # noqa: S603, S607


def fill(path: Path) -> None:
    """Write until nothing more fits."""
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            return


def test_a_full_disk_is_a_clear_error_and_loses_nothing(
    server_at: Callable[..., "Server"], small_disk: Path, body: bytes
) -> None:
    server = server_at(small_disk / "home").start()
    callers, ballast = Callers(server, body), small_disk / "ballast"
    server.await_ready()

    with server.client() as operator:
        path = "/v1/people?consent=form 0&filename=worn.npz"
        made = operator.post(f"{path}&name=new 0", content=body)
        callers.people.append("new 0")
        fill(ballast)
        wait(lambda: status(server, "/v1/ready") == 503)
        refused = operator.post(f"{path}&name=late", content=body)
        token = operator.post("/v1/tokens", json={"role": "viewer", "duration_s": 600})
        listed = operator.get("/v1/people")
        healthy = operator.get("/v1/health")
        removed = operator.delete("/v1/people/ben")
        known = [one["name"] for one in operator.get("/v1/people").json()["people"]]
        ballast.unlink()
        wait(lambda: status(server, "/v1/ready") == 200)
        after = operator.post(f"{path}&name=late", content=body)
        left = sorted(one["name"] for one in operator.get("/v1/people").json()["people"])
    server.kill()

    assert (made.status_code, after.status_code, removed.status_code) == (201, 201, 200)
    assert (refused.status_code, refused.json()["error"]["code"]) == (507, "disk_full")
    assert (token.status_code, token.json()["error"]["code"]) == (507, "disk_full")
    assert known == ["anna", "new 0"]
    assert [one["name"] for one in listed.json()["people"]] == ["anna", "ben", "new 0"]
    assert healthy.status_code == 200
    assert left == ["anna", "late", "new 0"]


def test_an_upload_that_cannot_be_put_aside_is_refused(
    small_disk: Path, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    fill(small_disk / "ballast")

    with pytest.raises(RefusedError, match="No space left") as refusal:
        read_recording(body, "worn.npz")

    assert refusal.value.status == 507
    assert [one.name for one in small_disk.iterdir()] == ["ballast"]
