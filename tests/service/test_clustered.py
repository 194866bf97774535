"""Two replicas on two nodes of a Ray cluster over one PostgreSQL, and a node that dies."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from json import dumps, loads
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from sqlalchemy import create_engine, select, text
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from acclock.errors import ClusterError, ConfigError
from acclock.matching.template import Template
from acclock.service.auth.tokens import create_token
from acclock.service.clustered import check_for_cluster, serve_on_cluster
from acclock.service.config import ServiceConfig
from acclock.service.store import ServiceStore, streams
from acclock.simulation import Scene, draw_person, simulate
from acclock.sources.frames import encode
from acclock.values import FloatArray
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

_PROGRAM = "from acclock.cli.program import main; main()"
TWINS = [f"twin {number}" for number in range(12)]
"""People with anna's heart: each has a session of their own."""


@dataclass
class Bud:
    """A stream, as its device sees it."""

    opened: ClientConnection
    ready: dict[str, Any]
    next: int
    begun_s: float = field(default_factory=time.monotonic)
    sent: int = 0

    @property
    def session(self) -> str:
        return str(self.ready["session"])

    def feed(self, samples: FloatArray) -> None:
        """Send what is due by now, half a second at a time."""
        while self.sent + 50 <= (time.monotonic() - self.begun_s) * 100:
            part = samples[:, self.sent : self.sent + 50]
            with suppress(ConnectionClosed):
                time_us, period_us = self.sent * 10_000, 10_000
                self.opened.send(
                    encode(part, sequence=self.next, time_us=time_us, period_us=period_us)
                )
            self.sent, self.next = self.sent + 50, (self.next + 1) % 2**32

    def lives(self) -> bool:
        """Tell whether the other side is there; what it said before is not of interest."""
        try:
            while True:
                self.opened.recv(timeout=0.05)
        except TimeoutError:
            return True
        except ConnectionClosed:
            return False


@dataclass(frozen=True)
class Clustered:
    """A service on a cluster, as its callers see it."""

    port: int
    operator: str
    store: ServiceStore
    said: Path

    def ask(
        self, path: str, *, method: str = "GET", json: object = None, **headers: str
    ) -> httpx.Response:
        return httpx.request(
            method,
            f"http://127.0.0.1:{self.port}{path}",
            headers={"Authorization": f"Bearer {self.operator}"} | headers,
            json=json,
            timeout=60.0,
            trust_env=False,
        )

    @contextmanager
    def stream(self, person: str = "anna") -> Iterator["Bud"]:
        """Open a stream of somebody's that their heartbeat alone may unlock."""
        url = f"ws://127.0.0.1:{self.port}/v1/stream"
        # nobody reads most of what is said: unless all of it may wait, pongs would wait behind it
        with connect(url, compression=None, proxy=None, close_timeout=1, max_queue=None) as opened:
            welcome = loads(opened.recv())
            hello = {"type": "hello", "token": self.operator, "nonce": welcome["nonce"]}
            opened.send(dumps(hello | {"person": person, "entry": "heartbeat"}))
            yield Bud(opened, loads(opened.recv()), welcome["first_sequence"])

    def sessions(self) -> dict[str, str]:
        """Give how the live sessions stand; while a node dies, a call may be lost."""
        try:
            listed = self.ask("/v1/sessions").json()["sessions"]
            return {one["session"]: one["state"] for one in listed}
        except (httpx.HTTPError, ValueError, KeyError):
            return {}

    def replicas(self) -> dict[str, str]:
        """Give which replica holds each live session, from the database."""
        with self.store.reading() as connection:
            rows = connection.execute(select(streams.c.stream, streams.c.replica)).all()
        return {row.stream: row.replica for row in rows}


def wait(until: Callable[[], object], *, patience_s: float = 90.0) -> float:
    start_s = time.monotonic()
    while not until():
        assert time.monotonic() - start_s < patience_s
        time.sleep(0.2)
    return time.monotonic() - start_s


@pytest.fixture(scope="module")
def clustered(
    postgres: str,
    ray_nodes: "Cluster",
    templates: dict[str, Template],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Clustered]:
    folder = tmp_path_factory.mktemp("clustered")
    name = f"clustered_{os.urandom(4).hex()}"
    engine = create_engine(postgres)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    database = f"{postgres}&options=-csearch_path%3D{name}"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    keys = KeyFile(folder / "vault" / "vault.key")
    with open_vault(folder / "vault", url=database, key_store=keys) as vault:
        store = ServiceStore(vault)
        secret, _ = create_token(store, "operator", duration_s=3600)
        vault.add_all(dict.fromkeys(["anna", *TWINS], templates["anna"]))
        place = ["--vault", folder / "vault", "--database", database, "--port", port]
        cluster = ["--engine", "ray", "--address", ray_nodes.address, "--workers", 2]
        command = [sys.executable, "-c", _PROGRAM, "serve", *map(str, [*place, *cluster])]
        with (
            (folder / "said").open("w") as said,
            subprocess.Popen(  # noqa: S603 - our own program
                command, stdout=subprocess.PIPE, stderr=said, text=True
            ) as driver,
        ):
            assert driver.stdout is not None
            assert "token create operator" in driver.stdout.readline()
            assert driver.stdout.readline() == f"serving on http://127.0.0.1:{port}\n"
            yield Clustered(port, secret, store, folder / "said")
            driver.terminate()
            assert driver.wait(60) == 0
            assert driver.stdout.read() == ""
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
    engine.dispose()


@pytest.mark.slow
def test_the_checks_of_the_service_hold_behind_the_proxy(clustered: Clustered) -> None:
    foreign = clustered.ask("/v1/people", Origin="https://elsewhere.example")
    page = clustered.ask("/")
    stream, origin = f"ws://127.0.0.1:{clustered.port}/v1/stream", Origin("https://else.example")
    with pytest.raises(InvalidStatus), connect(stream, origin=origin, proxy=None):
        pass
    with clustered.stream() as bud:
        for _ in range(10):
            bud.opened.send(b"x" * 300_000)
        refused = loads(bud.opened.recv(timeout=30))

    assert (foreign.status_code, foreign.json()["error"]["code"]) == (403, "origin")
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert (refused["type"], refused["error"]["code"]) == ("error", "garbage")


@pytest.mark.slow
def test_wrong_tokens_are_counted_over_all_replicas(clustered: Clustered) -> None:
    time.sleep(max(0.0, time.time() % 60 - 40.0) and 60 - time.time() % 60)  # within one minute

    answers = [
        clustered.ask("/v1/people", Authorization="Bearer guess").status_code for _ in range(31)
    ]

    assert answers == [401] * 30 + [429]
    with clustered.store.writing() as connection:
        connection.execute(text("DELETE FROM acclock_rates"))  # for the tests that follow


@pytest.fixture
def buds(clustered: Clustered) -> Iterator[list[Bud]]:
    """The heartbeat of anna's twins in real time, on both nodes."""
    worn = simulate(draw_person(0), Scene(duration_s=240.0, session=1)).recording.samples
    over = threading.Event()
    with ExitStack() as stack:
        made = [stack.enter_context(clustered.stream(TWINS[0]))]

        def feed() -> None:
            while not over.wait(0.1):
                for bud in made:
                    bud.feed(worn)

        feeding = threading.Thread(target=feed)
        feeding.start()
        stack.callback(feeding.join)
        stack.callback(over.set)
        while len(set(clustered.replicas().values())) < 2:
            assert len(made) < len(TWINS), "all streams are on one replica"
            made.append(stack.enter_context(clustered.stream(TWINS[len(made)])))
            time.sleep(1.0)  # until the replica has told of it
        yield made


@pytest.mark.slow
def test_a_node_that_dies_locks_its_streams_and_loses_nothing(
    clustered: Clustered, buds: list[Bud], ray_nodes: "Cluster"
) -> None:
    told: list[str] = []

    def make(number: int) -> None:
        wanted = {"role": "viewer", "duration_s": 600, "note": str(number)}
        with suppress(httpx.HTTPError):
            answer = clustered.ask("/v1/tokens", method="POST", json=wanted)
            if answer.status_code == 201:
                told.append(answer.json()["token"])

    begun = {bud.session for bud in buds}
    wait(lambda: clustered.sessions() == dict.fromkeys(begun, "unlocked"))  # any replica knows all
    (node,) = ray_nodes.worker_nodes
    with ThreadPoolExecutor(2) as pool:
        for number in range(60):
            pool.submit(make, number)
        wait(lambda: len(told) >= 10)
        ray_nodes.remove_node(node, allow_graceful=False)
    wait(lambda: set(clustered.sessions()) == {one.session for one in buds if one.lives()} < begun)
    with clustered.stream() as anew:
        pass

    kept = {row["token"] for row in clustered.ask("/v1/tokens").json()["tokens"]}
    assert len(told) >= 10
    assert set(told) <= kept
    assert (anew.ready["type"], anew.ready["state"]) == ("ready", "locked")
    assert anew.session not in begun


@pytest.mark.slow
def test_more_replicas_than_cores_are_refused(ray_nodes: "Cluster", tmp_path: Path) -> None:
    config = ServiceConfig(folder=tmp_path, database="postgresql://db/acclock", workers=9)

    with pytest.raises(ClusterError, match="9 replicas need one each"):
        serve_on_cluster(config, address=ray_nodes.address, on_ready=lambda: None)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, "--database postgresql://"),
        ({"database": "sqlite:///here.db"}, "--database postgresql://"),
        ({"database": "postgresql://db/acclock", "port": 0}, "--port must name it"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(
    tmp_path: Path, wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        check_for_cluster(ServiceConfig(folder=tmp_path, **wrong))


def test_a_cluster_that_is_not_there_is_named(tmp_path: Path) -> None:
    config = ServiceConfig(folder=tmp_path, database="postgresql://db/acclock")

    with pytest.raises(ClusterError, match=r"no Ray cluster answers at 127\.0\.0\.1:1"):
        serve_on_cluster(config, address="127.0.0.1:1", on_ready=lambda: None)
