"""Streams over a real socket: who may open one, what is refused, and how it ends."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sqlalchemy import select, update
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from acclock.matching.coaching import push
from acclock.service.auth.roles import Role
from acclock.service.auth.tokens import list_tokens, revoke_token
from acclock.service.client import StreamClient, StreamRefusedError
from acclock.service.store import ServiceStore, tokens
from acclock.service.streams import connection
from acclock.service.streams.enrolling import StreamEnrollment
from acclock.sources.frames import encode
from acclock.vault.sealing import MAC

if TYPE_CHECKING:
    from tests.service.conftest import Running

Play = Callable[[Awaitable[Any]], Any]


async def drain(socket: ClientConnection) -> tuple[list[dict[str, Any]], int | None]:
    """Give everything that is said until the end, and the code at the end."""
    said = []
    try:
        while True:
            said.append(json.loads(await socket.recv()))
    except ConnectionClosed as closed:
        return said, closed.rcvd.code if closed.rcvd else None


def frame(sequence: int, *, count: int = 50) -> bytes:
    samples = np.random.default_rng(1).normal(size=(3, count))
    return encode(samples, sequence=sequence, time_us=0, period_us=10_000)


def test_decisions_come_for_samples_and_the_session_is_seen(running: "Running", play: Play) -> None:
    async def stream() -> list[dict[str, Any]]:
        token, heard = running.token("device", "anna"), []
        samples = running.later.samples
        async with StreamClient(running.ws, token, person="anna", device="bud") as client:
            for start in range(0, 600, 50):
                await asyncio.sleep(0.45)
                part = samples[:, start : start + 50]
                await client.send(part, time_us=start * 10_000, period_us=10_000)
            async for message in client.hear():
                heard.append(message)
                if len(heard) == 3:
                    break
            with running.client(running.token("viewer")) as viewer:
                listed = viewer.get("/v1/sessions").json()["sessions"]
            with running.client(running.token("relying-party", "anna")) as asker:
                state = asker.get("/v1/people/anna/state").json()
        assert [one["device"] for one in listed] == ["bud"]
        assert state["state"] == "locked"
        assert state["session"] == client.ready["session"]
        return heard

    heard = play(stream())

    assert all(message["type"] == "decision" for message in heard)
    assert all("nats" not in message for message in heard)
    assert all(message["sequence"] is not None for message in heard)


@pytest.mark.parametrize(
    ("role", "person", "hello", "code"),
    [
        ("device", "anna", {"nonce": "0" * 32}, "replayed"),
        ("device", "ben", {}, "other_person"),
        ("viewer", None, {}, "forbidden"),
        ("relying-party", "anna", {}, "forbidden"),
        ("device", "anna", {"entry": "heartbeat"}, "forbidden"),
        ("device", "anna", {"trace": True}, "forbidden"),
        ("device", "anna", {"purpose": "enroll", "consent": "v1"}, "forbidden"),
        ("device", "anna", {"rate_hz": 5.0}, "bad_rate"),
        ("device", "anna", {"rate_hz": 50.0}, "bad_rate"),
        (
            "operator",
            None,
            {"purpose": "enroll", "consent": "v1", "person": "carl", "rate_hz": 5.0},
            "bad_rate",
        ),
        ("device", "anna", {"surprise": 1}, "bad_hello"),
        ("operator", None, {"person": "nobody"}, "unknown_person"),
        ("operator", None, {"policy": "lax"}, "bad_setting"),
        ("operator", None, {"purpose": "enroll", "person": "carl"}, "no_consent"),
        ("operator", None, {"purpose": "enroll", "consent": "v1"}, "name_taken"),
        ("operator", None, {"token": "acclock_" + "x" * 43}, "unknown_token"),
    ],
)
def test_a_hello_is_refused_with(
    running: "Running", play: Play, role: Role, person: str | None, hello: dict[str, Any], code: str
) -> None:
    async def greet() -> tuple[list[dict[str, Any]], int | None]:
        socket, _ = await running.greet(running.token(role, person), **hello)
        return await drain(socket)

    said, closed = play(greet())

    assert [message["error"]["code"] for message in said] == [code]
    assert closed is not None
    assert closed >= 4000


def test_who_does_not_say_hello_is_cut_off(
    running: "Running", play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_HELLO_S", 0.2)

    async def dawdle() -> tuple[list[dict[str, Any]], int | None]:
        socket = await connect(f"{running.ws}/v1/stream", compression=None, proxy=None)
        return await drain(socket)

    said, closed = play(dawdle())

    assert said[-1]["error"]["code"] == "too_slow"
    assert closed == 4408


def test_frames_recorded_on_one_connection_are_refused_on_another(
    running: "Running", play: Play
) -> None:
    async def replay() -> tuple[list[dict[str, Any]], int | None]:
        token = running.token("device", "anna")
        first, welcome = await running.greet(token)
        recorded = [frame(welcome["first_sequence"] + number) for number in range(3)]
        for one in recorded:
            await first.send(one)
        await first.close()
        second, _ = await running.greet(token)
        await second.send(recorded[0])
        return await drain(second)

    said, closed = play(replay())

    assert [message["type"] for message in said] == ["ready", "error"]
    assert (said[-1]["error"]["code"], closed) == ("replayed", 4409)


def test_an_oversized_frame_ends_the_stream(running: "Running", play: Play) -> None:
    async def shout() -> int | None:
        socket, _ = await running.greet(running.token("device", "anna"))
        await socket.send(b"ACLK" + bytes(300_000))
        return (await drain(socket))[1]

    assert play(shout()) == 1009


def test_malformed_frames_lock_and_then_end_the_stream(running: "Running", play: Play) -> None:
    async def babble() -> tuple[list[dict[str, Any]], int | None]:
        socket, _ = await running.greet(running.token("device", "anna"))
        for _ in range(10):
            await socket.send(b"ACLK babble")
        return await drain(socket)

    said, closed = play(babble())

    assert (said[-1]["error"]["code"], closed) == ("garbage", 4422)
    assert all(message.get("state", "locked") == "locked" for message in said)


def test_a_flood_is_cut_off(running: "Running", play: Play) -> None:
    async def flood() -> list[dict[str, Any]]:
        socket, welcome = await running.greet(running.token("device", "anna"))
        first = welcome["first_sequence"]
        with suppress(ConnectionClosed):
            for number in range(5_000):
                await socket.send(frame((first + number) % 2**32, count=1000))
        return (await drain(socket))[0]

    said = play(flood())

    assert said[-1].get("error", {}).get("code") == "flood"
    assert all(message.get("state", "locked") == "locked" for message in said)


def test_pages_of_other_origins_open_no_stream(running: "Running", play: Play) -> None:
    async def call() -> None:
        await connect(f"{running.ws}/v1/stream", origin="https://evil.example", proxy=None)  # type: ignore[arg-type]

    with pytest.raises(InvalidStatus, match="403"):
        play(call())


def expire(store: ServiceStore, token: str) -> None:
    which = tokens.c.token == token
    with store.signing() as rows:
        (row,) = rows.keep(tokens, select(tokens).where(which))
        plain = {name: value for name, value in row._mapping.items() if name != MAC}
        ended = rows.sign(tokens, plain | {"expires": time.time() - 1.0})
        rows.connection.execute(update(tokens).where(which), ended)


@pytest.mark.parametrize("end", [revoke_token, expire])
def test_a_token_that_is_revoked_or_expires_ends_its_stream(
    running: "Running", play: Play, end: Callable[[ServiceStore, str], None]
) -> None:
    async def stream() -> tuple[list[dict[str, Any]], int | None]:
        secret = running.token("device", "anna")
        socket, _ = await running.greet(secret)
        await socket.recv()
        newest = list_tokens(running.service.store)[-1]
        await asyncio.to_thread(end, running.service.store, newest.token)
        ended = await drain(socket)
        again, _ = await running.greet(secret)
        assert (await drain(again))[0][0]["error"]["code"] == "unknown_token"
        return ended

    said, closed = play(stream())

    assert said[-1] == {"type": "revoked"}
    assert closed == 4401


def test_an_enrollment_coaches_and_ends_in_a_person_who_has_agreed(
    running: "Running", play: Play
) -> None:
    later = running.later.samples

    def gather_the_rest() -> None:
        """Put windows into the enrollment that would take two minutes to come."""
        (listener,) = running.service.engine._listeners.values()
        assert isinstance(listener, StreamEnrollment)
        for number in range(35):
            window = later[np.newaxis, :, 10 * number : 10 * number + 400]
            listener.enrollment = push(listener.enrollment, listener.model.embed(window)[0])

    async def enroll() -> list[dict[str, Any]]:
        hello: dict[str, Any] = {"purpose": "enroll", "person": "dora", "consent": "form 3"}
        said = []
        async with StreamClient(running.ws, running.token("operator"), **hello) as client:
            for start in range(0, 500, 50):
                await client.send(
                    later[:, start : start + 50], time_us=start * 10_000, period_us=10_000
                )
                await asyncio.sleep(0.5)
            async for message in client.hear():
                said.append(message)
                if message["type"] == "progress":
                    gather_the_rest()
                    await client.say({"type": "finish"})
        return said

    said = play(enroll())
    with running.client(running.token("operator")) as client:
        export = client.get("/v1/people/dora/export").json()
        audit = client.get("/v1/audit").json()["events"]
        removed = client.delete("/v1/people/dora")

    assert {"good", "needed", "advice"} <= set(said[0])
    assert [message["type"] for message in said[-2:]] == ["enrolled", "ended"]
    consent = next(event for event in audit if event["kind"] == "consented")
    assert consent["note"] == "form 3"
    notes = [event["note"] for event in export["events"]]
    assert f"consent is event {consent['number']}" in notes
    assert removed.json()["removed"] == "dora"


def test_an_enrollment_with_too_few_windows_stores_nobody(running: "Running", play: Play) -> None:
    async def hurry() -> None:
        hello: dict[str, Any] = {"purpose": "enroll", "person": "emil", "consent": "form 3"}
        async with StreamClient(running.ws, running.token("operator"), **hello) as client:
            await client.say({"type": "finish"})
            async for _ in client.hear():
                pass

    with pytest.raises(StreamRefusedError, match="at least 30"):
        play(hurry())
    with running.client(running.token("operator")) as client:
        assert client.get("/v1/people/emil").status_code == 404


def test_deleting_somebody_locks_and_ends_their_streams(running: "Running", play: Play) -> None:
    vault = running.service.recognizer.vault
    vault.add("fred", vault.template("anna"))

    async def delete() -> tuple[list[dict[str, Any]], int | None]:
        socket, _ = await running.greet(running.token("operator"), person="fred")
        await socket.recv()
        with running.client(running.token("operator")) as client:
            await asyncio.to_thread(client.delete, "/v1/people/fred")
        return await drain(socket)

    said, closed = play(delete())

    assert said[-1] == {"type": "forgotten"}
    assert closed == 4404


def test_pushes_of_a_phone_are_a_session(running: "Running") -> None:
    samples = running.later.samples.T[:100].tolist()
    message = {"sequence": 1, "time_us": 0, "period_us": 10_000, "samples": samples}

    with running.client(running.token("device", "anna")) as phone:
        taken = phone.post("/v1/push", json=message)
        again = phone.post("/v1/push", json=message)
        refused = phone.post("/v1/push?rate_hz=1", json=message)

    assert (taken.status_code, taken.json()["taken"], taken.json()["state"]) == (200, 1, "locked")
    assert (again.json()["taken"], again.json()["session"]) == (0, taken.json()["session"])
    assert refused.status_code == 422


def test_events_tell_of_sessions_that_begin_and_end(running: "Running", play: Play) -> None:
    async def listen() -> list[str]:
        client = running.client(running.token("relying-party", "anna"))
        loop = asyncio.get_running_loop()
        with client, client.stream("GET", "/v1/events") as answer:
            lines = answer.iter_lines()
            socket, _ = await running.greet(running.token("device", "anna"))
            await socket.recv()
            await socket.close()
            heard: list[str] = []
            while not any('"stopped"' in line for line in heard):
                heard.append(await loop.run_in_executor(None, lambda: next(lines)))
            return heard

    heard = play(listen())

    kinds = [json.loads(line[6:]).get("kind") for line in heard if line.startswith("data: ")]
    assert [kind for kind in kinds if kind in ("started", "stopped")][-2:] == ["started", "stopped"]
    assert not any("nats" in line or "heart_rate" in line for line in heard)
