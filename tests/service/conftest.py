"""A running service, people it knows, and ways to call it."""

import asyncio
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import httpx
import pytest
import uvicorn
from websockets.asyncio.client import ClientConnection, connect

from acclock.matching.enrollment import enroll
from acclock.matching.template import Template
from acclock.models.catalog import ModelCatalog
from acclock.service.api.app import build_app
from acclock.service.auth.roles import Role
from acclock.service.auth.tokens import create_token
from acclock.service.config import ServiceConfig
from acclock.service.service import Service, open_service
from acclock.service.serving import configure, listen
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import Recording
from acclock.vault.opening import open_vault

os.environ.setdefault("OMP_NUM_THREADS", "1")


def wear(person: int, *, duration_s: float, session: int = 0) -> Recording:
    scene = Scene(duration_s=duration_s, session=session)
    return simulate(draw_person(person), scene).recording


@dataclass(frozen=True, kw_only=True)
class Running:
    """A service on a free port, with anna and ben enrolled."""

    service: Service
    port: int
    later: Recording
    """Anna, in a later session."""
    worn: Recording
    """Somebody else, long enough to enroll."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def ws(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    def token(self, role: Role, person: str | None = None, *, may_grant: bool = False) -> str:
        number = self.service.recognizer.vault.person(person).person if person else None
        return create_token(
            self.service.store, role, duration_s=600.0, person=number, may_grant=may_grant
        )[0]

    def client(self, token: str | None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30.0, trust_env=False)

    async def greet(self, secret: str, **hello: object) -> tuple[ClientConnection, dict[str, Any]]:
        """Open a stream, say hello, and give it with the welcome."""
        socket = await connect(
            f"{self.ws}/v1/stream", compression=None, proxy=None, close_timeout=1
        )
        welcome = json.loads(await socket.recv())
        told = {"type": "hello", "token": secret, "nonce": welcome["nonce"], "person": "anna"}
        await socket.send(json.dumps(told | hello))
        return socket, welcome


def start(config: ServiceConfig) -> tuple[Service, uvicorn.Server, threading.Thread, int]:
    service = open_service(config)
    (sock,) = listen(config)
    server = uvicorn.Server(configure(config, build_app(service)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.02)
    return service, server, thread, sock.getsockname()[1]


@pytest.fixture(scope="session")
def templates() -> dict[str, Template]:
    """Anna and ben, as the default model knows them."""
    model = ModelCatalog().named("default")
    worn = {"anna": wear(0, duration_s=130.0), "ben": wear(1, duration_s=130.0)}
    return {
        name: enroll(model.observe(recording).good, cohort=model.cohort, now=datetime.now(UTC))
        for name, recording in worn.items()
    }


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory, templates: dict[str, Template]
) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("service") / "vault"
    config = ServiceConfig(
        folder=folder,
        port=0,
        failures_per_minute=10_000,
        verifications_per_minute=5,
        allowed_hosts=("acclock.example", "*.cluster.example"),
    )
    service, server, thread, port = start(config)
    service.recognizer.vault.add_all(templates)
    yield Running(
        service=service,
        port=port,
        later=wear(0, duration_s=40.0, session=1),
        worn=wear(2, duration_s=140.0),
    )
    server.should_exit = True
    thread.join(10.0)


class Server:
    """``acclock serve`` in a process of its own; started again, it keeps its port."""

    def __init__(self, home: Path, *options: str, **environment: str) -> None:
        self.home, self.operator, self.port, self.scheme = home, "", 0, ""
        self.said = home.parent / f"{home.name}.log"
        """What it says to standard error."""
        self._options, self._environment = options, environment
        self.process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def ws(self) -> str:
        return self.url.replace("http", "ws", 1)

    def start(self, *, limit: Callable[[], None] | None = None) -> Self:
        """Start it; ``limit`` is called in the new process before the program is."""
        program = "from acclock.cli.program import main; main()"
        command = [sys.executable, "-c", program, "serve", "--port", str(self.port)]
        with self.said.open("a") as log:
            self.process = subprocess.Popen(  # noqa: S603 - our own program
                [*command, *self._options],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                preexec_fn=limit,
                env=os.environ
                | {"ACCLOCK_HOME": str(self.home), "OMP_NUM_THREADS": "1"}
                | self._environment,
            )
        for line in self.process.stdout or ():
            if line.startswith("operator token"):
                self.operator = Path(line.partition(": ")[2].strip()).read_text("ascii").strip()
            if line.startswith("serving on"):
                self.scheme, _, port = line.split()[-1].replace("://", ":").split(":")
                self.port = int(port)
                break
        assert self.process.poll() is None, self.said.read_text()
        return self

    def kill(self) -> None:
        """Kill it (-9)."""
        if self.process is not None and self.process.stdout is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None

    def client(self, token: str | None = None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token or self.operator}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60.0, trust_env=False)

    def await_ready(self) -> None:
        with self.client() as client:
            for _ in range(600):
                try:
                    if client.get("/v1/ready").status_code == 200:
                        return
                except httpx.HTTPError:
                    assert self.process is not None
                    assert self.process.poll() is None, self.said.read_text()
                time.sleep(0.1)
        raise AssertionError(f"it does not get ready: {self.said.read_text()[-500:]}")


@pytest.fixture
def server_at(templates: dict[str, Template]) -> Iterator[Callable[..., Server]]:
    """Prepare servers over vaults that know anna and ben; they are killed at the end."""
    made: list[Server] = []

    def make(home: Path, *options: str, database: str | None = None, fresh: bool = False) -> Server:
        if not fresh:
            with open_vault(home, url=database) as vault:
                vault.add_all(templates)
        named = {} if database is None else {"ACCLOCK_DATABASE": database}
        made.append(Server(home, *options, **named))
        return made[-1]

    yield make
    for server in made:
        server.kill()


@pytest.fixture
def many_files() -> Iterator[None]:
    """Let this process hold as many sockets as the system allows."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture
def play() -> Callable[[Awaitable[Any]], Any]:
    """Run what is awaited, for half a minute at most."""

    def run(work: Awaitable[Any]) -> Any:  # noqa: ANN401 - whatever the work gives
        async def bounded() -> Any:  # noqa: ANN401 - whatever the work gives
            async with asyncio.timeout(45.0):
                return await work

        return asyncio.run(bounded())

    return run
