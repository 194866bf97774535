"""The command, the port, and callers who take their time."""

import asyncio
import os
import pty
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from websockets.exceptions import WebSocketException

from acclock.errors import ConfigError
from acclock.service import connections
from acclock.service.api import guarding
from acclock.service.client import StreamClient
from acclock.service.config import ServiceConfig
from acclock.service.serving import listen
from acclock.vault.opening import open_vault

if TYPE_CHECKING:
    from tests.service.conftest import Running, Server

_PROGRAM = "from acclock.cli.program import main; main()"


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
        token = Path(process.stdout.readline().split()[-1]).read_text("ascii").strip()
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


def test_the_first_token_goes_to_a_terminal_and_into_no_file(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", _PROGRAM, "serve", "--port", "0"]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, stdout=theirs, env=os.environ | {"ACCLOCK_HOME": str(tmp_path / "home")}
    ) as process:
        os.close(theirs)
        with os.fdopen(ours, "r") as terminal:
            told = terminal.readline()
            process.kill()

    assert re.search(r"operator token, shown this once: acclock_[\w-]{43}\s", told)
    assert not (tmp_path / "home" / "operator.token").exists()


def test_the_first_token_is_not_told_to_a_log(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    command = [sys.executable, "-c", _PROGRAM, "serve", "--port", "0"]
    with (
        log.open("w") as file,
        subprocess.Popen(  # noqa: S603 - our own program
            command, stdout=file, stderr=file, env=os.environ | {"ACCLOCK_HOME": str(home)}
        ) as process,
    ):
        while "serving on" not in log.read_text() and process.poll() is None:
            time.sleep(0.1)
        process.kill()
    kept = home / "operator.token"

    assert str(kept) in log.read_text()
    assert "acclock_" not in log.read_text()
    assert re.fullmatch(r"acclock_[\w-]{43}\n", kept.read_text("ascii"))
    assert kept.stat().st_mode & 0o777 == 0o600


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
    open_vault(tmp_path).close()
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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--port", "99999"), "a port is a number from 0 to 65535, not 99999"),
        (("--port", "0", "--model", "nothere"), "there is no model 'nothere'"),
        (("--port", "0", "--database", "postgresql://x@127.0.0.1:1/x"), "cannot be reached"),
    ],
)
def test_what_cannot_be_served_is_one_line(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    code, out, err = finish("serve", *options, home=tmp_path / "home")

    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_an_interrupt_ends_it_without_a_word_and_the_next_start_tells_of_tokens(
    server_at: Callable[..., "Server"], tmp_path: Path
) -> None:
    server = server_at(tmp_path / "home").start()
    server.await_ready()
    assert server.process is not None
    server.process.send_signal(signal.SIGINT)
    code = server.process.wait(60)

    with acclock("serve", "--port", "0", home=tmp_path / "home") as again:
        assert again.stdout is not None
        told = again.stdout.readline()
        again.kill()

    assert (code, server.said.read_text()) == (130, "")
    assert "acclock token create operator" in told


def test_a_port_that_is_taken_is_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        config = ServiceConfig(folder=tmp_path, port=taken.getsockname()[1])

        with pytest.raises(ConfigError, match="cannot listen"):
            listen(config)


HEAD = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
UPGRADE = HEAD.replace(b"health", b"stream") + b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
POST = b"POST /v1/tokens HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9999\r\n\r\n"


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(b"", HEAD + b"X-Slow: ", id="head"),
        pytest.param(b"", UPGRADE + b"X-Slow: ", id="websocket"),
        pytest.param(HEAD + b"\r\n", HEAD + b"X-Slow: ", id="second head"),
        pytest.param(b"", POST, id="body"),
    ],
)
def test_who_sends_a_request_byte_by_byte_is_cut_off(
    running: "Running", monkeypatch: pytest.MonkeyPatch, first: bytes, then: bytes
) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 0.5)
    monkeypatch.setattr(guarding, "_BODY_S", 0.5)

    with socket.create_connection(("127.0.0.1", running.port)) as slow:
        slow.settimeout(20.0)
        if first:
            slow.sendall(first)
            assert slow.recv(4096).startswith(b"HTTP/1.1 200")
        slow.sendall(then)
        kept_s = drip(slow)

    with running.client(None) as client:
        assert client.get("/v1/health").status_code == 200
    assert kept_s < 20.0


def drip(slow: socket.socket) -> float:
    """Send byte after byte until the other side has had enough; give how long that took."""
    begun_s, end = time.monotonic(), b"?"
    slow.setblocking(False)
    while end and time.monotonic() - begun_s < 20.0:
        try:
            slow.sendall(b"x")
            time.sleep(0.1)
            end = slow.recv(4096)
        except BlockingIOError:
            continue
        except OSError:
            break
    return time.monotonic() - begun_s


def test_a_body_that_is_too_large_is_refused_before_anybody_looks_at_the_token(
    running: "Running",
) -> None:
    with running.client(None) as client:
        answer = client.post("/v1/tokens", content=bytes(1024 * 1024))

    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


def test_idle_connections_are_closed_and_others_are_served(
    running: "Running", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 2.0)
    idle = [socket.create_connection(("127.0.0.1", running.port)) for _ in range(150)]

    with running.client(None) as client:
        served = client.get("/v1/health").status_code
    ends = []
    for one in idle:
        one.settimeout(30.0)
        ends.append(one.recv(1))
        one.close()

    assert served == 200
    assert ends == [b""] * 150


def test_an_upload_that_is_too_large_is_refused(running: "Running") -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(40):
            yield bytes(1024 * 1024)

    with running.client(running.token("operator")) as client:
        answer = client.post("/v1/people?name=gina&consent=v1", content=parts())

    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


@dataclass(frozen=True)
class Certificate:
    """A certificate for this machine, which vouches for itself."""

    certificate: Path
    key: Path

    @property
    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now, here = datetime.now(UTC), x509.IPAddress(ip_address("127.0.0.1"))
    name_there = x509.DNSName("acclock.example")
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([here, name_there]), critical=True)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    place = Certificate(tmp_path / "cert.pem", tmp_path / "key.pem")
    place.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    place.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return place


def test_with_a_certificate_it_is_https_and_wss_and_nothing_else(
    server_at: Callable[..., "Server"], certificate: Certificate, tmp_path: Path
) -> None:
    options = ("--tls-cert", str(certificate.certificate), "--tls-key", str(certificate.key))
    server = server_at(tmp_path / "home", *options).start()

    async def greet(url: str) -> str:
        trust = certificate.trust if "wss" in url else None
        async with StreamClient(url, server.operator, person="anna", tls=trust) as stream:
            return str(stream.ready["state"])

    ready = httpx.get(f"{server.url}/v1/ready", verify=certificate.trust, trust_env=False)
    page = httpx.get(server.url, verify=certificate.trust, trust_env=False)
    called = [
        httpx.get(
            f"{server.url}/v1/health",
            headers={"Host": host},
            verify=certificate.trust,
            trust_env=False,
        ).status_code
        for host in ("acclock.example", "evil.example")
    ]
    state = asyncio.run(greet(server.ws))

    assert server.url.startswith("https://")
    assert (ready.status_code, page.status_code, state) == (200, 200, "locked")
    assert called == [200, 421]  # the names in the certificate are its own
    assert "max-age" in page.headers["strict-transport-security"]
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(server.url, trust_env=False)
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(server.url.replace("https", "http"), trust_env=False)
    with pytest.raises((OSError, WebSocketException)):
        asyncio.run(greet(server.ws.replace("wss", "ws")))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--host", "0.0.0.0"), "in the clear"),  # noqa: S104 - refused
        (("--tls-cert", "{cert}"), "both a certificate and its key"),
        (("--tls-cert", "{cert}", "--tls-key", "nowhere.pem"), "No such file"),
        (("--tls-cert", "{cert}", "--tls-key", "{cert}"), "no certificate and key"),
    ],
)
def test_what_cannot_be_served_securely_is_refused_in_a_sentence(
    certificate: Certificate, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    filled = [option.format(cert=certificate.certificate) for option in options]

    code, out, err = finish("serve", "--port", "0", *filled, home=tmp_path / "home")

    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "home").exists()
