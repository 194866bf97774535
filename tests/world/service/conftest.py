"""A running service, people it knows, and ways to call it."""

import asyncio
import json
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from websockets.asyncio.client import ClientConnection, connect

from acclock.embedding.embedder import Embedder
from acclock.matching.enrollment import enroll
from acclock.matching.template import Template
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import Recording
from acclock.world.desk import DEFAULT_MODEL
from acclock.world.models.cohorts import cohort_path, read_cohort
from acclock.world.models.files import find_model, read_model
from acclock.world.service.app import build_app
from acclock.world.service.config import ServiceConfig
from acclock.world.service.roles import Role
from acclock.world.service.service import Service, open_service
from acclock.world.service.serving import configure, listen
from acclock.world.service.tokens import create_token
from acclock.world.wearing import observe

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
        number = self.service.desk.vault.person(person).person if person else None
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
    path = find_model(DEFAULT_MODEL)
    embedder = Embedder(read_model(path))
    cohort = read_cohort(cohort_path(Path(path)), model=embedder.fingerprint)
    worn = {"anna": wear(0, duration_s=130.0), "ben": wear(1, duration_s=130.0)}
    return {
        name: enroll(observe(recording, embedder).good, cohort=cohort, now=datetime.now(UTC))
        for name, recording in worn.items()
    }


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory, templates: dict[str, Template]
) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("service") / "vault"
    config = ServiceConfig(
        folder=folder, port=0, failures_per_minute=10_000, verifications_per_minute=5
    )
    service, server, thread, port = start(config)
    service.desk.vault.add_all(templates)
    yield Running(
        service=service,
        port=port,
        later=wear(0, duration_s=40.0, session=1),
        worn=wear(2, duration_s=140.0),
    )
    server.should_exit = True
    thread.join(10.0)


@pytest.fixture
def play() -> Callable[[Awaitable[Any]], Any]:
    """Run what is awaited, for half a minute at most."""

    def run(work: Awaitable[Any]) -> Any:  # noqa: ANN401 - whatever the work gives
        async def bounded() -> Any:  # noqa: ANN401 - whatever the work gives
            async with asyncio.timeout(45.0):
                return await work

        return asyncio.run(bounded())

    return run
