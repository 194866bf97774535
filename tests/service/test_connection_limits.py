"""Caps on connections, of tokens and of addresses, tried with real connections."""

import asyncio
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ConfigError
from acclock.recordings import write
from acclock.service import connections
from acclock.service.auth.roles import Caller, Role
from acclock.service.client import StreamClient, StreamRefusedError
from acclock.service.config import ServiceConfig
from acclock.service.connections import ConnectionLimits
from acclock.service.metrics import Metrics
from acclock.service.refusals import RefusedError

if TYPE_CHECKING:
    from tests.service.conftest import Running, Server

PER_TOKEN, PER_ADDRESS = 4, 10
CAPS = ("--connections-per-token", str(PER_TOKEN), "--connections-per-address", str(PER_ADDRESS))
ELSEWHERE = "127.0.0.77"


@pytest.fixture
def capped(server_at: Callable[..., "Server"], tmp_path: Path) -> "Server":
    server = server_at(tmp_path / "home", *CAPS).start()
    server.await_ready()
    return server


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    """Keep what a test opens, and close it at its end."""
    with ExitStack() as stack:
        yield stack


def make_token(server: "Server", role: Role, person: str | None = None) -> str:
    body = {"role": role, "person": person, "duration_s": 3600}
    with server.client() as client:
        answer = client.post("/v1/tokens", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["secret"])


def ask(server: "Server", request: str, *, source: str = "127.0.0.1") -> socket.socket:
    """Send a request from an address of this machine, over a connection of its own."""
    one = socket.create_connection(
        ("127.0.0.1", server.port), timeout=30.0, source_address=(source, 0)
    )
    one.sendall(request.encode())
    return one


def head(path: str, token: str | None = None, *, method: str = "GET", **headers: str) -> str:
    told = {"Host": "127.0.0.1"} | {name.replace("_", "-"): told for name, told in headers.items()}
    if token is not None:
        told["Authorization"] = f"Bearer {token}"
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in told.items())]
    return "\r\n".join([*lines, "", ""])


def status_of(one: socket.socket) -> int:
    return int(one.recv(4096).split()[1])


def get(server: "Server", path: str, token: str | None = None, *, source: str) -> httpx.Response:
    transport = httpx.HTTPTransport(local_address=source)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with httpx.Client(transport=transport, timeout=5.0, headers=headers) as client:
        return client.get(f"{server.url}{path}")


async def stream(server: "Server", token: str) -> str:
    """Open a stream; give what it was told."""
    try:
        async with StreamClient(server.ws, token, person="anna"):
            return "ready"
    except StreamRefusedError as refusal:
        return refusal.code


@pytest.mark.usefixtures("many_files")
def test_one_device_token_does_not_keep_others_from_health_and_state(
    server_at: Callable[..., "Server"], tmp_path: Path, opened: ExitStack
) -> None:
    server = server_at(tmp_path / "home").start()
    server.await_ready()
    device, relying = (make_token(server, role, "anna") for role in ("device", "relying-party"))

    crowd = [
        opened.enter_context(ask(server, head("/v1/events", device), source=f"127.0.1.{n % 100}"))
        for n in range(1450)
    ]
    told = [status_of(one) for one in crowd]
    begun_s = time.monotonic()
    answers = [
        get(server, "/v1/health", source=ELSEWHERE),
        get(server, "/v1/people/anna/state", relying, source=ELSEWHERE),
        get(server, "/v1/health", source="127.0.1.1"),
    ]
    took_s = time.monotonic() - begun_s
    listening = opened.enter_context(ask(server, head("/v1/events", server.operator)))

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert took_s < 5.0
    assert status_of(listening) == 200
    assert (told.count(200), set(told)) == (16, {200, 429})


def test_all_kinds_of_long_connections_of_a_token_count_together(
    capped: "Server", opened: ExitStack
) -> None:
    token = make_token(capped, "device", "anna")
    upload = head("/v1/push", token, method="POST", Content_Length="9999")
    held = [opened.enter_context(ask(capped, upload + "x", source=f"127.0.0.{n}")) for n in (2, 3)]
    held += [
        opened.enter_context(ask(capped, head("/v1/events", token), source=f"127.0.0.{n}"))
        for n in (4, 5)
    ]
    assert [status_of(one) for one in held[2:]] == [200, 200]

    refused = get(capped, "/v1/events", token, source="127.0.0.1")
    pushed = status_of(opened.enter_context(ask(capped, upload + "x")))
    streamed = asyncio.run(stream(capped, token))
    other = asyncio.run(stream(capped, make_token(capped, "device", "anna")))
    held.pop().close()

    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "10")
    assert refused.json()["error"]["sentence"] == (
        "this token holds too many connections already: at most 4 may be open"
    )
    assert (pushed, streamed, other) == (429, "too_many_connections", "ready")
    assert await_answer(lambda: asyncio.run(stream(capped, token)), "ready")


def await_answer(answer: Callable[[], object], wanted: object) -> bool:
    """Ask until the answer is the wanted one, for ten seconds at most."""
    begun_s = time.monotonic()
    while answer() != wanted:
        if time.monotonic() - begun_s > 10.0:
            return False
        time.sleep(0.2)
    return True


def test_an_address_that_is_full_keeps_nobody_else_out_and_no_operator(
    capped: "Server", opened: ExitStack
) -> None:
    tokens = [make_token(capped, "viewer") for _ in range(3)]

    told = []
    for number in range(PER_ADDRESS + 2):
        listening = ask(capped, head("/v1/events", tokens[number // PER_TOKEN]))
        told.append(status_of(opened.enter_context(listening)))
    elsewhere = ask(capped, head("/v1/events", tokens[-1]), source=ELSEWHERE)
    operator = ask(capped, head("/v1/events", capped.operator))

    assert told == [200] * PER_ADDRESS + [429] * 2
    assert status_of(opened.enter_context(elsewhere)) == 200
    assert status_of(opened.enter_context(operator)) == 200
    assert get(capped, "/v1/people", tokens[0], source="127.0.0.1").status_code == 200


def test_what_shows_no_token_counts_for_its_address(capped: "Server", opened: ExitStack) -> None:
    body = head("/v1/tokens", method="POST", Content_Length="9999")
    upgrade = head(
        "/v1/stream",
        Connection="Upgrade",
        Upgrade="websocket",
        Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
        Sec_WebSocket_Version="13",
    )

    for number in range(PER_ADDRESS):
        one = opened.enter_context(ask(capped, body if number % 2 else upgrade))
        if number % 2 == 0:
            assert status_of(one) == 101
    time.sleep(0.2)
    refused = get(capped, "/v1/people", capped.operator, source="127.0.0.1")
    health = get(capped, "/v1/health", source="127.0.0.1")
    elsewhere = get(capped, "/v1/people", capped.operator, source=ELSEWHERE)

    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "10")
    assert refused.json()["error"]["code"] == "too_many_connections"
    assert (health.status_code, elsewhere.status_code) == (200, 200)


@pytest.mark.usefixtures("many_files")
def test_a_full_process_keeps_room_for_operators_states_and_health(
    server_at: Callable[..., "Server"], tmp_path: Path, opened: ExitStack
) -> None:
    caps = ("--connections-per-token", "200", "--connections-per-address", "120")
    server = server_at(tmp_path / "home", "--most-streams", "50", *caps).start()
    server.await_ready()
    viewers = [make_token(server, "viewer") for _ in range(5)]

    told = []
    for number in range(850):
        request = head("/v1/events", viewers[number % len(viewers)])
        one = opened.enter_context(ask(server, request, source=f"127.0.1.{number % 10}"))
        told.append(status_of(one))
    operator = opened.enter_context(ask(server, head("/v1/events", server.operator)))

    assert told == [200] * 750 + [503] * 100  # of 1050, with three times a hundred kept
    assert status_of(operator) == 200
    for path in ("/v1/health", "/v1/ready", "/v1/people/anna/state"):
        assert get(server, path, viewers[0], source=ELSEWHERE).status_code == 200


def readable(sockets: list[socket.socket]) -> list[socket.socket]:
    """Give those to which something was said."""
    return select.select(sockets, [], [], 0.0)[0]


def test_of_one_address_only_so_many_connections_idle(capped: "Server", opened: ExitStack) -> None:
    idle = [opened.enter_context(ask(capped, "")) for _ in range(3 * PER_ADDRESS)]
    elsewhere = [opened.enter_context(ask(capped, "", source=ELSEWHERE)) for _ in range(3)]

    assert await_answer(lambda: len(readable(idle)), 2 * PER_ADDRESS)
    left = [*elsewhere, *(one for one in idle if one not in readable(idle))]
    told = [status_of(one) for one in readable(idle)]
    for one in left:
        one.sendall(head("/v1/health").encode())

    assert told == [429] * (2 * PER_ADDRESS)
    assert [status_of(one) for one in left] == [200] * (PER_ADDRESS + 3)


def test_a_trusted_proxy_says_whose_connections_it_brings(
    server_at: Callable[..., "Server"], tmp_path: Path, opened: ExitStack
) -> None:
    options = (*CAPS, "--trusted-proxy", "127.0.0.8/30")
    server = server_at(tmp_path / "home", *options).start()
    server.await_ready()
    tokens = [make_token(server, "viewer") for _ in range(6)]

    def listen(number: int, proxy: str, source: str) -> int:
        request = head("/v1/events", tokens[number // PER_TOKEN], X_Forwarded_For=source)
        return status_of(opened.enter_context(ask(server, request, source=proxy)))

    proxied = [listen(n, "127.0.0.9", "192.0.2.1") for n in range(PER_ADDRESS + 1)]
    another = listen(PER_ADDRESS, "127.0.0.9", "192.0.2.2")
    lying = [listen(11 + n, ELSEWHERE, f"192.0.2.{n}") for n in range(PER_ADDRESS + 1)]

    assert proxied == [200] * PER_ADDRESS + [429]
    assert another == 200
    assert lying == [200] * PER_ADDRESS + [429]


def test_a_proxy_that_is_no_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"named by its address.*not 'nginx'"):
        ServiceConfig(folder=tmp_path, trusted_proxies=("nginx",))


def test_who_does_not_read_the_answer_is_cut_off(
    running: "Running", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "READ_S", 0.5)
    limits = running.service.connections

    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", running.port))
        deaf.sendall(head("/v1/openapi.json").encode() * 400)
        assert await_answer(lambda: limits.held, 1)
        time.sleep(0.3)
        assert limits.held == 1
        assert await_answer(lambda: limits.held, 0)


def test_uploads_that_wait_for_their_turn_hold_up_nobody_else(
    running: "Running", tmp_path: Path
) -> None:
    write(running.worn, tmp_path / "worn.npz")
    body, token = (tmp_path / "worn.npz").read_bytes(), running.token("operator")
    answered: list[int] = []

    def enroll(number: int) -> None:
        with running.client(token) as client:
            place = f"/v1/people?name=wait{number}&consent=v1&filename=worn.npz"
            answered.append(client.post(place, content=body).status_code)

    waiting = [threading.Thread(target=enroll, args=(number,)) for number in range(10)]
    for thread in waiting:
        thread.start()
    while running.service.connections.held or not running.service.recognizer_work.locked():
        time.sleep(0.005)
    time.sleep(0.2)
    begun = len(answered)
    with running.client(token) as client:
        state = client.get("/v1/people/anna/state").status_code
    meanwhile = len(answered) - begun
    for thread in waiting:
        thread.join(60.0)

    assert state == 200
    assert meanwhile < 3  # were the threads taken by those who wait, it would be four or more


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["open", "short", "close"]),
        st.sampled_from(["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2", "192.0.2.3"]),
        st.sampled_from([("a", "device"), ("b", "viewer"), ("c", "operator")]),
    ),
    max_size=80,
)


@given(acts=ACTS, most=st.integers(8, 30))
def test_no_history_of_connections_exceeds_a_cap_or_leaves_a_trace(
    acts: list[tuple[str, str, tuple[str, Role]]], most: int
) -> None:
    limits = ConnectionLimits(Metrics(), per_token=3, per_address=4, most=most)
    kept, held = most // 4, list[tuple[ExitStack, str, str, str]]()

    for act, address, (token, role) in acts:
        place = "v6" if ":" in address else address
        if act == "close":
            if held:
                held.pop(0)[0].close()
            continue
        operator, short = role == "operator" and act == "open", act == "short"
        of_token = sum(one[3] == token for one in held)
        of_place = sum(one[1:3] == (act, place) for one in held)
        fits = (
            (short or of_token < 3)
            and of_place < 4 + kept * operator
            and len(held) < most - kept * (1 if short else 2 if operator else 3)
        )
        stack = ExitStack()
        caller = Caller(token=token, role=role)
        connection = (
            limits.connected(address, kind="short") if short else limits.identified(caller, address)
        )
        try:
            stack.enter_context(connection)
        except RefusedError:
            assert not fits
        else:
            assert fits
            held.append((stack, act, place, "" if short else token))
        assert limits.held == len(held)

    for one in held:
        one[0].close()
    assert limits._held == {}
