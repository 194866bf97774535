"""One session per person: a second stream takes over, and nobody hears of two."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from acclock.service.client import StreamClient
from acclock.service.replicas.exchange import (
    ReplicaReport,
    clear_current,
    current_stream,
    exchange,
    take_over,
)
from acclock.service.store import ServiceStore
from acclock.service.streams import pushing
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault

if TYPE_CHECKING:
    from tests.service.conftest import Running

Play = Callable[[Awaitable[Any]], Any]
PERSON = "p" * 32


def told(replica: str, held: set[str]) -> ReplicaReport:
    return ReplicaReport(
        replica=replica,
        changed={},
        held=frozenset(held),
        tokens=frozenset(),
        kinds=[],
        last=None,
    )


def test_of_many_who_take_over_at_once_the_database_names_one(tmp_path: Path) -> None:
    streams = [f"{number:032d}" for number in range(24)]
    with open_vault(tmp_path / "vault", key_store=KeyFile(tmp_path / "key")) as vault:
        store = ServiceStore(vault)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda stream: take_over(store, PERSON, stream), streams))
        take_over(store, "q" * 32, "other")
        left = current_stream(store, PERSON)
        lost = exchange(store, told("r", {*streams, "other"})).superseded

    assert left in streams
    assert lost == set(streams) - {left}


def test_rows_of_streams_that_ended_are_cleared_up(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault", key_store=KeyFile(tmp_path / "key")) as vault:
        store = ServiceStore(vault)
        take_over(store, PERSON, "ended")
        with store.writing() as connection:
            clear_current(connection, before=time.time() - 60.0)
        young = current_stream(store, PERSON)
        with store.writing() as connection:
            clear_current(connection, before=time.time() + 60.0)
        old = current_stream(store, PERSON)

    assert (young, old) == ("ended", None)


async def hear_out(socket: ClientConnection) -> tuple[dict[str, Any], int | None]:
    """Give the last words of a stream and the code with which it was closed."""
    last = {}
    try:
        while True:
            last = json.loads(await socket.recv())
    except ConnectionClosed as closed:
        return last, closed.rcvd.code if closed.rcvd else None


def ask(running: "Running") -> tuple[str, str | None]:
    with running.client(running.token("relying-party", "anna")) as client:
        answer = client.get("/v1/people/anna/state").json()
    return answer["state"], answer["session"]


def grant(running: "Running") -> list[str]:
    with running.client(running.token("relying-party", "anna", may_grant=True)) as client:
        return list(
            client.post("/v1/people/anna/grant", json={"duration_s": 600}).json()["granted"]
        )


def test_a_second_stream_takes_an_unlocked_session_over_and_begins_locked(
    running: "Running", play: Play
) -> None:
    samples, heard = running.later.samples, []

    async def wear(client: StreamClient) -> None:
        begun_s = time.monotonic()
        for number in count():
            part = samples[:, 50 * (number % 60) : 50 * (number % 60) + 50]
            await client.send(part, time_us=number * 500_000, period_us=10_000)
            await asyncio.sleep(begun_s + 0.5 * (number + 1) - time.monotonic())

    async def hear(client: StreamClient) -> None:
        async for message in client.hear():
            heard.append(message)  # noqa: PERF401 - others look at it meanwhile

    async def scene() -> tuple[list[Any], str, str]:
        token = running.token("device", "anna")
        async with StreamClient(running.ws, token, person="anna") as first:
            tasks = [asyncio.ensure_future(work(first)) for work in (wear, hear)]
            granted = await asyncio.to_thread(grant, running)
            while (await asyncio.to_thread(ask, running))[0] != "unlocked":
                await asyncio.sleep(0.2)
            other = running.token("device", "anna")
            async with StreamClient(running.ws, other, person="anna") as second:
                states = [await asyncio.to_thread(ask, running)]
                await asyncio.wait_for(tasks[1], 20.0)
                states.append(await asyncio.to_thread(ask, running))
                again = await asyncio.to_thread(grant, running)
            tasks[0].cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        assert granted == [first.ready["session"]]
        assert again == [second.ready["session"]]
        return states, first.ready["session"], second.ready["session"]

    states, first, second = play(scene())

    assert first != second
    assert states == [("locked", second)] * 2  # the grant of the first does not open it
    assert heard[-1]["type"] == "superseded"
    assert heard[-1]["sentence"] == "another stream of the user has taken over"


def test_streams_and_pushes_take_over_from_each_other(
    running: "Running", play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = running.later.samples.T[:100].tolist()
    message = {"sequence": 1, "time_us": 0, "period_us": 10_000, "samples": samples}

    async def scene() -> list[Any]:
        with running.client(running.token("device", "anna")) as phone:
            before = await asyncio.to_thread(phone.post, "/v1/push", json=message)
            socket, _ = await running.greet(running.token("device", "anna"))
            ready = json.loads(await socket.recv())
            refused = await asyncio.to_thread(phone.post, "/v1/push", json=message)
            state = await asyncio.to_thread(ask, running)
            monkeypatch.setattr(pushing, "_SILENT_S", 0.2)
            await asyncio.sleep(1.5)
            after = await asyncio.to_thread(phone.post, "/v1/push", json=message)
            last, code = await hear_out(socket)
            now = await asyncio.to_thread(ask, running)
        assert state == ("locked", ready["session"])
        assert now == ("locked", after.json()["session"])
        assert before.json()["session"] != after.json()["session"]
        return [refused, last["type"], code]

    refused, last, code = play(scene())

    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "superseded")
    assert "has taken over" in refused.json()["error"]["sentence"]
    assert (last, code) == ("superseded", 4410)


def test_a_stream_that_was_replaced_says_nothing_more_to_those_who_listen(
    running: "Running", play: Play
) -> None:
    async def scene() -> tuple[list[tuple[str, str]], str, str]:
        with running.service.registry.listening() as reader:
            first, _ = await running.greet(running.token("device", "anna"))
            one = json.loads(await first.recv())["session"]
            second, _ = await running.greet(running.token("device", "anna"))
            other = json.loads(await second.recv())["session"]
            await hear_out(first)
            await asyncio.sleep(1.0)
            told = [reader.get_nowait() for _ in range(reader.qsize())]
            await second.close()
        return [(news.kind, news.snapshot.session) for news in told], one, other

    told, one, other = play(scene())

    assert [kind for kind, session in told if session == one] == ["started", "stopped"]
    assert ("started", other) in told
    assert running.service.metrics.counted("takeovers", "superseded") >= 1
