"""The command, the port, and callers who take their time."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from acclock.errors import ConfigError
from acclock.world.service import serving
from acclock.world.service.config import ServiceConfig
from acclock.world.service.serving import listen

if TYPE_CHECKING:
    from tests.world.service.conftest import Running

_PROGRAM = (
    "from acclock.cli import program\n"
    "program.COMMANDS.update(serve='serve', token='token')\n"
    "program.main()\n"
)


def acclock(*arguments: str, home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", _PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"ACCLOCK_HOME": str(home), "OMP_NUM_THREADS": "1"},
    )


def finish(*arguments: str, home: Path) -> tuple[int, str, str]:
    with acclock(*arguments, home=home) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A service as a fresh machine has it: its address and its first token."""
    with acclock("serve", "--port", "0", "--workers", "2", home=tmp_path / "home") as process:
        assert process.stdout is not None
        token = process.stdout.readline().split()[-1]
        url = process.stdout.readline().split()[-1]
        yield url, token
        process.terminate()
        process.wait(30)


def test_a_fresh_machine_serves_with_no_configuration(
    served: tuple[str, str], tmp_path: Path
) -> None:
    url, token = served

    ready = httpx.get(f"{url}/v1/ready", timeout=120, trust_env=False)
    headers = {"Authorization": f"Bearer {token}"}
    people = httpx.get(f"{url}/v1/people", headers=headers, timeout=60, trust_env=False)
    code, out, _ = finish("token", "list", "--json", home=tmp_path / "home")

    assert url.startswith("http://127.0.0.1:")
    assert (ready.status_code, people.json()) == (200, {"people": []})
    assert code == 0
    assert '"role": "operator"' in out
    assert token not in out


def test_a_worker_that_is_killed_is_started_again(tmp_path: Path) -> None:
    with acclock("serve", "--port", "0", "--workers", "2", home=tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        url = process.stdout.readline().split()[-1]
        for _ in range(10):
            assert httpx.get(f"{url}/v1/health", timeout=120, trust_env=False).status_code == 200
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        before = children.read_text("ascii").split()

        now: list[str] = []
        os.kill(int(before[-1]), signal.SIGKILL)
        for _ in range(300):
            time.sleep(0.2)
            now = children.read_text("ascii").split()
            if len(now) == len(before) and now != before:
                break
        answers = [httpx.get(f"{url}/v1/health", timeout=120, trust_env=False) for _ in range(10)]
        process.terminate()

    assert now != before
    assert {answer.status_code for answer in answers} == {200}


def test_tokens_are_made_and_revoked_from_the_command_line(tmp_path: Path) -> None:
    code, out, _ = finish("token", "create", "viewer", "--for", "1h", "--json", home=tmp_path)
    number = re.findall(r'"token": "([0-9a-f]{16})"', out)[0]
    revoked, _, _ = finish("token", "revoke", number, home=tmp_path)
    refused, _, said = finish("token", "create", "device", home=tmp_path)

    assert (code, revoked, refused) == (0, 0, 2)
    assert re.search(r'"secret": "acclock_[\w-]{43}"', out)
    assert "one person" in said


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::", "example.org"])  # noqa: S104 - refused
def test_beyond_loopback_nothing_is_served_without_tls(host: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="in the clear"):
        ServiceConfig(folder=tmp_path, host=host)

    assert ServiceConfig(folder=tmp_path, host=host, insecure=True).host == host


def test_a_port_that_is_taken_is_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        config = ServiceConfig(folder=tmp_path, port=taken.getsockname()[1])

        with pytest.raises(ConfigError, match="cannot listen"):
            listen(config)


def test_who_sends_a_request_byte_by_byte_is_cut_off(
    running: "Running", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_HEADERS_S", 0.5)

    with socket.create_connection(("127.0.0.1", running.port)) as slow:
        slow.settimeout(20.0)
        slow.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        begun_s, end = time.monotonic(), b"?"
        while end:
            try:
                slow.sendall(b"x")
                time.sleep(0.1)
                slow.setblocking(False)
                end = slow.recv(1)
            except BlockingIOError:
                assert time.monotonic() - begun_s < 20.0
            except OSError:
                break
            finally:
                slow.setblocking(True)

    with running.client(None) as client:
        assert client.get("/v1/health").status_code == 200


def test_idle_connections_are_closed_and_others_are_served(
    running: "Running", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_HEADERS_S", 2.0)
    idle = [socket.create_connection(("127.0.0.1", running.port)) for _ in range(200)]

    with running.client(None) as client:
        served = client.get("/v1/health").status_code
    ends = []
    for one in idle:
        one.settimeout(30.0)
        ends.append(one.recv(1))
        one.close()

    assert served == 200
    assert ends == [b""] * 200


def test_an_upload_that_is_too_large_is_refused(running: "Running") -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(40):
            yield bytes(1024 * 1024)

    with running.client(running.token("operator")) as client:
        answer = client.post("/v1/people?name=gina&consent=v1", content=parts())

    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
