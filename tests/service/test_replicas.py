"""Two replicas over one PostgreSQL: a killed one's sessions are locked, nothing told is lost."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from json import dumps, loads
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from sqlalchemy import create_engine, text
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from acclock.matching.template import Template
from acclock.service.auth.tokens import create_token
from acclock.service.store import ServiceStore
from acclock.sources.frames import encode
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault

_REPLICA = """
import sys
from pathlib import Path
from acclock.service.config import ServiceConfig
from acclock.service.serving import listen, serve
config = ServiceConfig(folder=Path(sys.argv[1]), database=sys.argv[2], port=0)
sockets = listen(config)
print(sockets[0].getsockname()[1], flush=True)
serve(config, sockets)
"""


_LINE = """
import asyncio, sys
async def pump(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
async def carry(reader, writer):
    inner, outer = await asyncio.open_unix_connection(sys.argv[2])
    await asyncio.gather(pump(reader, outer), pump(inner, writer), return_exceptions=True)
async def main():
    async with await asyncio.start_unix_server(carry, sys.argv[1]) as server:
        await server.serve_forever()
asyncio.run(main())
"""


class Line:
    """Stands between the replicas and the database, and can be cut."""

    def __init__(self, folder: Path, server: Path) -> None:
        self._place, self._server = folder / ".s.PGSQL.5432", server / ".s.PGSQL.5432"
        self.mend()

    def mend(self) -> None:
        command = [sys.executable, "-c", _LINE, str(self._place), str(self._server)]
        self._process = subprocess.Popen(command)  # noqa: S603 - the program above
        wait(self._place.exists)

    def hold(self) -> None:
        """Let nothing pass, and tell nobody."""
        self._process.send_signal(signal.SIGSTOP)

    def let_go(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def cut(self) -> None:
        self._process.kill()
        self._process.wait()
        self._place.unlink()


@dataclass
class Cluster:
    """Replicas of one vault, by number."""

    folder: Path
    database: str
    line: Line
    processes: list[subprocess.Popen[str]]
    ports: list[int]
    operator: str = ""

    def start(self) -> int:
        command = [sys.executable, "-c", _REPLICA, str(self.folder), self.database]
        process = subprocess.Popen(  # noqa: S603 - our own program
            command, stdout=subprocess.PIPE, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
        )
        assert process.stdout is not None
        self.processes.append(process)
        self.ports.append(int(process.stdout.readline()))
        return len(self.ports) - 1

    def ask(
        self, replica: int, path: str, *, method: str = "GET", json: object = None
    ) -> httpx.Response:
        return httpx.request(
            method,
            f"http://127.0.0.1:{self.ports[replica]}{path}",
            headers={"Authorization": f"Bearer {self.operator}"},
            timeout=60.0,
            trust_env=False,
            json=json,
        )

    @contextmanager
    def stream(self, replica: int) -> Iterator[dict[str, Any]]:
        """Open a stream of anna's, and give what the service says about it."""
        with self.connect(replica) as (socket, welcome):
            yield self.greet(socket, nonce=welcome["nonce"])

    @contextmanager
    def connect(self, replica: int) -> Iterator[tuple[ClientConnection, dict[str, Any]]]:
        """Open a stream that has not said hello yet, and give its welcome."""
        place = f"ws://127.0.0.1:{self.ports[replica]}/v1/stream"
        with connect(place, compression=None, proxy=None, close_timeout=1) as socket:
            yield socket, loads(socket.recv())

    def greet(
        self, socket: ClientConnection, *, nonce: str, token: str | None = None
    ) -> dict[str, Any]:
        """Say hello, and give the answer."""
        told = {"type": "hello", "nonce": nonce, "person": "anna"}
        socket.send(dumps(told | {"token": token or self.operator}))
        return dict(loads(socket.recv()))

    def sessions(self, replica: int) -> list[str]:
        listed = self.ask(replica, "/v1/sessions").json()["sessions"]
        return [one["session"] for one in listed]


@pytest.fixture(scope="module")
def cluster(
    postgres: str, templates: dict[str, Template], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    tmp_path = tmp_path_factory.mktemp("replicas")
    sockets = tmp_path / "line"
    sockets.mkdir(mode=0o755)
    server = Path(postgres.partition("host=")[2])
    line = Line(sockets, server)
    name = f"service_{os.urandom(4).hex()}"
    base = postgres.partition("?")[0]
    engine = create_engine(postgres)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    options = f"options=-csearch_path%3D{name}"
    folder, keys = tmp_path / "vault", tmp_path / "vault" / "vault.key"
    with open_vault(folder, url=f"{postgres}&{options}", key_store=KeyFile(keys)) as vault:
        secret, _ = create_token(ServiceStore(vault), "operator", duration_s=3600)
        vault.add("anna", templates["anna"])
    running = Cluster(folder, f"{base}?host={sockets}&{options}", line, [], [], secret)
    for _ in range(2):
        running.start()
    for replica in range(2):
        wait(lambda: running.ask(replica, "/v1/ready").status_code == 200)  # noqa: B023 - now
    yield running
    for process in running.processes:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
    line.cut()
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
    engine.dispose()


def drain(socket: ClientConnection) -> tuple[list[dict[str, Any]], int | None]:
    """Give everything that is said until the end, and the code at the end."""
    said = []
    try:
        while True:
            said.append(loads(socket.recv()))
    except ConnectionClosed as closed:
        return said, closed.rcvd.code if closed.rcvd else None


def wait(until: Callable[[], bool], *, patience_s: float = 60.0) -> float:
    start_s = time.monotonic()
    while not until():
        assert time.monotonic() - start_s < patience_s
        time.sleep(0.1)
    return time.monotonic() - start_s


def test_what_was_recorded_at_one_replica_is_refused_at_another(cluster: Cluster) -> None:
    one, other = 0, 1

    with cluster.connect(one) as (first, told), cluster.connect(other) as (second, _):
        ready = cluster.greet(first, nonce=told["nonce"])
        replayed = cluster.greet(second, nonce=told["nonce"])
    with cluster.connect(other) as (third, welcome):
        cluster.greet(third, nonce=welcome["nonce"])
        recorded = np.ones((3, 50)), told["first_sequence"]
        third.send(encode(recorded[0], sequence=recorded[1], time_us=0, period_us=10_000))
        refused = loads(third.recv())

    assert ready["type"] == "ready"
    assert replayed["error"]["code"] == "replayed"
    assert refused["error"]["code"] == "replayed"


def test_a_token_revoked_at_one_replica_ends_its_stream_at_another(cluster: Cluster) -> None:
    one, other = 0, 1
    wanted = {"role": "device", "person": "anna", "duration_s": 600}
    made = cluster.ask(one, "/v1/tokens", method="POST", json=wanted).json()

    with cluster.connect(other) as (socket, welcome):
        cluster.greet(socket, nonce=welcome["nonce"], token=made["secret"])
        cluster.ask(one, f"/v1/tokens/{made['token']}", method="DELETE")
        said, code = drain(socket)

    assert said[-1] == {"type": "revoked"}
    assert code == 4401


def state(cluster: Cluster, replica: int) -> tuple[str, str | None]:
    told = cluster.ask(replica, "/v1/people/anna/state").json()
    return told["state"], told["session"]


def test_a_stream_at_one_replica_takes_over_from_one_at_another(cluster: Cluster) -> None:
    one, other = 0, 1

    with cluster.connect(one) as (first, welcome):
        before = cluster.greet(first, nonce=welcome["nonce"])
        wait(lambda: cluster.sessions(other) == [before["session"]])
        with cluster.stream(other) as ready:
            known = [state(cluster, replica)[1] for replica in (one, other)]
            begun_s = time.monotonic()
            said, code = drain(first)
            took_s = time.monotonic() - begun_s
            for replica in (one, other):
                wait(lambda: state(cluster, replica) == ("locked", ready["session"]))  # noqa: B023 - now
                wait(lambda: cluster.sessions(replica) == [ready["session"]])  # noqa: B023 - now

    assert ready["state"] == "locked"
    assert before["session"] not in known  # from the first moment on, at either replica
    assert said[-1] == {
        "type": "superseded",
        "sentence": "another stream of the user has taken over",
    }
    assert code == 4410
    assert took_s < 20.0  # half a second on a machine that has time


def test_of_streams_that_race_at_two_replicas_one_is_left_and_both_know_which(
    cluster: Cluster,
) -> None:
    replicas = [0, 1] * 4
    with ExitStack() as stack, ThreadPoolExecutor(len(replicas)) as pool:
        opened = [stack.enter_context(cluster.connect(replica)) for replica in replicas]
        ready = list(
            pool.map(lambda one: cluster.greet(one[0], nonce=one[1]["nonce"]), opened)
        )  # one that lost already may hear of it instead

        def alive() -> list[str]:
            return cluster.sessions(0)

        wait(lambda: len(alive()) == 1 and cluster.sessions(1) == alive())
        (left,) = alive()
        known = [state(cluster, replica) for replica in (0, 1)]
        losers = [
            socket
            for (socket, _), told in zip(opened, ready, strict=True)
            if told.get("session") != left
        ]
        ends = [drain(socket) for socket in losers]

    assert known == [("locked", left)] * 2
    assert len(losers) == len(replicas) - 1
    assert {code for _, code in ends} == {4410}


def test_a_killed_replica_is_noticed_and_its_streams_begin_locked_elsewhere(
    cluster: Cluster,
) -> None:
    one, other = cluster.start(), 0
    with cluster.stream(one) as ready:
        wait(lambda: cluster.sessions(other) == [ready["session"]])

        cluster.processes[one].send_signal(signal.SIGKILL)
        noticed_s = wait(lambda: cluster.sessions(other) == [])
    state = cluster.ask(other, "/v1/people/anna/state").json()
    with cluster.stream(other) as anew:
        pass

    assert noticed_s < 30.0  # three seconds on a machine that has time
    assert (state["state"], state["session"]) == ("locked", None)
    assert (anew["type"], anew["state"]) == ("ready", "locked")
    assert anew["session"] != ready["session"]


def test_what_was_acknowledged_before_a_kill_is_there_after_it(cluster: Cluster) -> None:
    one, other = 1, 0
    told: list[str] = []

    def make(number: int) -> None:
        wanted = {"role": "viewer", "duration_s": 600, "note": str(number)}
        try:
            answer = cluster.ask(number % 2, "/v1/tokens", method="POST", json=wanted)
        except httpx.HTTPError:
            return
        if answer.status_code == 201:
            told.append(answer.json()["token"])

    with ThreadPoolExecutor(4) as pool:
        for number in range(40):
            pool.submit(make, number)
        wait(lambda: len(told) >= 10)
        cluster.processes[one].send_signal(signal.SIGKILL)

    kept = {row["token"] for row in cluster.ask(other, "/v1/tokens").json()["tokens"]}
    assert 10 <= len(told) < 40
    assert set(told) <= kept


def test_a_database_that_hangs_is_as_good_as_gone(cluster: Cluster) -> None:
    one = 0
    with cluster.stream(one):
        cluster.line.hold()
        wait(lambda: cluster.ask(one, "/v1/ready").status_code == 503)
        healthy = cluster.ask(one, "/v1/health").status_code
        cluster.line.let_go()
        wait(lambda: cluster.ask(one, "/v1/ready").status_code == 200)
        people = cluster.ask(one, "/v1/people").json()["people"]

    assert healthy == 200
    assert [person["name"] for person in people] == ["anna"]


def test_a_database_that_goes_away_and_comes_back(cluster: Cluster) -> None:
    one = 0
    with cluster.stream(one):
        cluster.line.cut()
        wait(lambda: cluster.ask(one, "/v1/ready").status_code == 503)
        refused = cluster.ask(one, "/v1/people")
        cluster.line.mend()
        wait(lambda: cluster.ask(one, "/v1/ready").status_code == 200)
        people = cluster.ask(one, "/v1/people").json()["people"]

    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "vault_unavailable")
    assert [person["name"] for person in people] == ["anna"]
