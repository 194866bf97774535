"""Thousands who connect and ask for nothing: they go, and whoever works is not disturbed."""

import asyncio
import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from acclock.service.client import StreamClient, StreamRefusedError
from acclock.service.connections import allow_connections
from acclock.simulation import Scene, draw_person, simulate
from acclock.vault.opening import open_vault

if TYPE_CHECKING:
    from acclock.matching.template import Template
    from tests.service.conftest import Server

MOST = 1100
"""Connections of a service that takes a hundred streams."""
SILENT = [f"silent {number}" for number in range(40)]
POOL = 20
"""Handles of connections to the database, which are kept once they were needed."""
HALF_A_REQUEST = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


def handles(server: "Server") -> int:
    assert server.process is not None
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


def resident_mb(server: "Server") -> float:
    assert server.process is not None
    pages = Path(f"/proc/{server.process.pid}/statm").read_text("ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def working(server: "Server") -> Iterator[list[float]]:
    """Stream from a thread for as long as this lasts; give when decisions were heard."""
    over, heard = threading.Event(), []

    async def stream() -> None:
        worn = simulate(draw_person(0), Scene(duration_s=60.0, session=1)).recording.samples
        begun_s = time.monotonic()
        async with StreamClient(server.ws, server.operator, person="anna") as client:
            hearing = asyncio.ensure_future(hear(client))
            for number in count():
                if over.is_set():
                    break
                part = np.roll(worn, -50 * number, axis=1)[:, :50]
                await client.send(part, time_us=number * 500_000, period_us=10_000)
                await asyncio.sleep(begun_s + (number + 1) * 0.5 - time.monotonic())
            hearing.cancel()

    async def hear(client: StreamClient) -> None:
        async for message in client.hear():
            if message["type"] == "decision":
                heard.append(time.monotonic())  # noqa: PERF401 - others look at it meanwhile

    thread = threading.Thread(target=lambda: asyncio.run(stream()))
    thread.start()
    yield heard
    over.set()
    thread.join(60.0)


async def be_silent(server: "Server", person: str) -> str:
    """Open a stream and say nothing; give what the service says to that."""
    try:
        async with StreamClient(server.ws, server.operator, person=person) as client:
            async for _ in client.hear():
                pass
    except StreamRefusedError as refusal:
        return refusal.code
    return "closed"


def connect(server: "Server", number: int) -> list[socket.socket]:
    """Open connections, every second one with half a request."""
    idle = []
    for place in range(number):
        one = socket.create_connection(("127.0.0.1", server.port), timeout=30.0)
        if place % 2:
            one.sendall(HALF_A_REQUEST)
        idle.append(one)
    return idle


def hear_out(one: socket.socket) -> bytes:
    """Give what was said until the connection was closed."""
    said = b""
    try:
        while part := one.recv(4096):
            said += part
    except ConnectionResetError:
        pass  # it was closed while half a request was still on its way
    finally:
        one.close()
    return said


@pytest.mark.parametrize("idle", [1_500, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.usefixtures("many_files")
def test_idle_crowds_make_room_and_leave_a_working_stream_alone(
    server_at: Callable[..., "Server"],
    templates: "dict[str, Template]",
    tmp_path: Path,
    idle: int,
) -> None:
    server = server_at(tmp_path / "home", "--most-streams", "100", "--connections-per-token", "50")
    with open_vault(server.home) as vault:
        vault.add_all(dict.fromkeys(SILENT, templates["ben"]))
    server.start().await_ready()

    async def silent() -> list[str]:
        return await asyncio.gather(*(be_silent(server, person) for person in SILENT))

    with working(server) as heard, server.client() as asker:
        while not heard:
            time.sleep(0.1)
        files, memory_mb = handles(server), resident_mb(server)
        crowd: list[socket.socket] = []
        served, most = [], 0
        for _ in range(10):
            crowd += connect(server, idle // 10)
            with server.client() as newcomer:
                served.append(newcomer.get("/v1/health").status_code)
            most = max(most, handles(server))
        grown_mb = resident_mb(server) - memory_mb
        codes = asyncio.run(silent())
        said = [hear_out(one) for one in crowd]
        served.append(asker.get("/v1/people").status_code)
        begun_s = time.monotonic()
        while handles(server) > files + POOL and time.monotonic() - begun_s < 60.0:
            time.sleep(0.2)
        left = handles(server)

    assert set(served) == {200}
    assert set(codes) == {"silent"}
    assert most < MOST + 256
    assert left <= files + POOL
    assert grown_mb < 100.0
    assert sum(b"too many connections" in one for one in said) >= idle - MOST - 100
    # half a second on a machine that has time; had the crowd held it up, as long as the crowd was
    assert np.diff(heard).max() < 10.0


def test_a_process_takes_no_more_connections_than_it_may_open_files(
    many_files: None,
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(600, soft), hard))

    assert allow_connections(1000) == 1000
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 1256
    assert allow_connections(10_000_000) == hard - 256
