"""Who may do what, and what nobody but the operator sees."""

import json
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from acclock.errors import ConfigError
from acclock.recordings import write
from acclock.service.auth.roles import Role
from acclock.service.config import ServiceConfig

if TYPE_CHECKING:
    from tests.service.conftest import Running

NUMBERS = {"distance", "threshold", "nats", "spread", "windows", "lockout_s"}
ROUTES = {
    ("GET", "/v1/people"): {"viewer", "operator"},
    ("GET", "/v1/people/anna"): {"viewer", "operator"},
    ("GET", "/v1/people/anna/export"): {"operator"},
    ("DELETE", "/v1/people/nobody"): {"operator"},
    ("GET", "/v1/people/anna/state"): {"viewer", "operator", "device", "relying-party"},
    ("POST", "/v1/people/anna/grant"): {"operator"},
    ("GET", "/v1/sessions"): {"viewer", "operator"},
    ("GET", "/v1/policies"): {"viewer", "operator"},
    ("GET", "/v1/audit"): {"operator"},
    ("GET", "/v1/tokens"): {"operator"},
    ("DELETE", "/v1/tokens/0000"): {"operator"},
    ("GET", "/metrics"): {"viewer", "operator"},
}


@pytest.mark.parametrize("role", ["device", "viewer", "operator", "relying-party"])
def test_a_role_may_do_what_the_table_says_and_nothing_else(running: "Running", role: Role) -> None:
    person = "anna" if role in ("device", "relying-party") else None

    with running.client(running.token(role, person)) as client:
        body = {"duration_s": 60}
        allowed = {
            (method, path)
            for method, path in ROUTES
            if client.request(method, path, json=body if method == "POST" else None).status_code
            != 403
        }

    assert allowed == {place for place, roles in ROUTES.items() if role in roles}


def test_nothing_but_health_answers_without_a_token(running: "Running") -> None:
    with running.client(None) as client:
        paths = [path for path in client.get("/v1/openapi.json").json()["paths"] if "{" not in path]
        open_paths = {path for path in paths if client.get(path).status_code == 200}

    assert open_paths == {"/v1/health", "/v1/ready"}


@pytest.mark.parametrize("role", ["device", "relying-party"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/people/ben/state"),
        ("POST", "/v1/people/ben/verify"),
        ("GET", "/v1/events?person=ben"),
    ],
)
def test_a_token_for_anna_is_refused_for_ben(
    running: "Running", role: Role, method: str, path: str
) -> None:
    with running.client(running.token(role, "anna")) as client:
        answer = client.request(method, path, content=b"x" if method == "POST" else None)

    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "other_person")


def test_numbers_leave_to_the_operator_alone(running: "Running", tmp_path: Path) -> None:
    write(running.later, tmp_path / "later.npz")
    body = (tmp_path / "later.npz").read_bytes()

    def verify(token: str) -> dict[str, object]:
        with running.client(token) as client:
            answer = client.post("/v1/people/anna/verify?filename=x.npz", content=body)
        told: dict[str, object] = answer.json()
        return told

    device, operator = verify(running.token("device", "anna")), verify(running.token("operator"))

    assert isinstance(operator["distance"], float)
    assert device["decision"] == operator["decision"]
    assert not {name for name, value in device.items() if name in NUMBERS and value is not None}


def test_verification_is_rate_limited_and_says_when_to_come_back(running: "Running") -> None:
    with running.client(running.token("device", "anna")) as client:
        answers = [client.post("/v1/people/anna/verify", content=b"junk") for _ in range(12)]

    # a minute may end in between, after which five more are free
    assert {answer.status_code for answer in answers} == {422, 429}
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert 1 <= int(refused.headers["Retry-After"]) <= 60


@pytest.mark.parametrize(
    ("origin", "status"),
    [(None, 200), ("http://127.0.0.1:{port}", 200), ("https://evil.example", 403), ("null", 403)],
)
def test_pages_of_other_origins_may_not_call(
    running: "Running", origin: str | None, status: int
) -> None:
    headers = {"Origin": origin.format(port=running.port)} if origin else {}

    answer = httpx.get(f"{running.url}/v1/health", headers=headers, trust_env=False)

    assert answer.status_code == status


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("LocalHost", 200),
        ("[::1]:8377", 200),
        ("10.1.2.3", 200),
        (socket.gethostname(), 200),
        ("acclock.example", 200),
        ("node7.cluster.example:443", 200),
        ("evil.example", 421),
        ("acclock.example.evil.example", 421),
        ("a.b.cluster.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost@evil.example", 421),
        ("", 421),
    ],
)
def test_the_service_answers_to_its_own_names_only(
    running: "Running", host: str, status: int
) -> None:
    named = host.format(port=running.port)
    headers = {"Host": named, "Origin": f"http://{named}"}

    answer = httpx.get(f"{running.url}/v1/health", headers=headers, trust_env=False)

    assert answer.status_code == status
    if status == 421:
        assert answer.json()["error"]["code"] == "unknown_host"


def test_a_page_that_was_pointed_here_opens_no_stream(
    running: "Running", play: Callable[[Awaitable[Any]], Any]
) -> None:
    async def open_stream() -> None:
        host = f"evil.example:{running.port}"
        await connect(
            f"ws://{host}/v1/stream",
            sock=socket.create_connection(("127.0.0.1", running.port)),
            origin=Origin(f"http://{host}"),
        )

    with pytest.raises(InvalidStatus, match="403"):
        play(open_stream())


@pytest.mark.parametrize("name", ["http://acclock.example", "acclock.example:443", "*", "", "a b"])
def test_an_allowed_host_that_is_no_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="an allowed host is a name"):
        ServiceConfig(folder=tmp_path, allowed_hosts=(name,))


def test_every_answer_carries_the_headers_that_browsers_obey(running: "Running") -> None:
    answer = httpx.get(f"{running.url}/v1/people", trust_env=False)

    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "server" not in answer.headers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nothing", 404),
        ("PUT", "/v1/people", 405),
        ("GET", "/v1/audit?last=nine", 422),
        ("GET", "/v1/people/nobody", 404),
        ("POST", "/v1/people?name=%2F&consent=v1", 422),
        ("POST", "/v1/people?name=carl&consent=v1", 422),
        ("POST", "/v1/tokens", 422),
    ],
)
def test_every_error_has_one_shape(running: "Running", method: str, path: str, status: int) -> None:
    with running.client(running.token("operator")) as client:
        answer = client.request(method, path)

    assert answer.status_code == status
    error = json.loads(answer.content)["error"]
    assert set(error) == {"code", "sentence"}
    assert error["code"].replace("_", "").isalpha()


def test_enrolling_twice_under_one_key_enrolls_once(running: "Running", tmp_path: Path) -> None:
    write(running.worn, tmp_path / "worn.npz")
    body, headers = (tmp_path / "worn.npz").read_bytes(), {"Idempotency-Key": "a key"}
    place = "/v1/people?name=hana&consent=v1&filename=worn.npz"

    with running.client(running.token("operator")) as client:
        first = client.post(place, content=body, headers=headers)
        again = client.post(place, content=body, headers=headers)
        other = client.post(place, content=body + b"x", headers=headers)
        keyless = client.post(place, content=body)

    assert first.status_code == 201
    assert again.json() == first.json()
    assert (other.status_code, other.json()["error"]["code"]) == (409, "key_reused")
    assert (keyless.status_code, keyless.json()["error"]["code"]) == (409, "name_taken")
