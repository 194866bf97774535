"""What comes over a network is heard, and what is wrong with it is counted, named and a break."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing
from itertools import repeat
from typing import TYPE_CHECKING

import aiomqtt
import httpx
import numpy as np
import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from acclock.errors import ConfigError
from acclock.live.chunks import Break, Chunk
from acclock.sources.frames import LARGEST_BYTES, encode
from acclock.sources.mqtt import MqttSource
from acclock.sources.relay import Backoff, RelayInbox, relay
from acclock.sources.sensor_logger import SensorLoggerSource
from acclock.sources.source import Faults
from acclock.sources.websocket import WebSocketServerSource, WebSocketSource
from acclock.values import STANDARD_GRAVITY

if TYPE_CHECKING:
    from tests.conftest import Mosquitto
    from tests.sources.conftest import Listen

SOON = Backoff(first_s=0.01, longest_s=0.05)
"""Do not wait in a test."""
Heard = list[Chunk | Break]


def frame(number: int) -> bytes:
    samples = np.full((3, 10), float(number))
    return encode(samples, sequence=number, time_us=100_000 * number, period_us=10_000)


def spell(heard: Heard) -> list[str]:
    return [piece.reason if isinstance(piece, Break) else "chunk" for piece in heard]


def play_client(
    answer: Callable[[ServerConnection], Awaitable[None]], listen: "Listen", *, count: int
) -> tuple[Heard, Faults]:
    """Let a client listen to a server that does what ``answer`` does."""

    async def run() -> tuple[Heard, Faults]:
        async with serve(answer, "127.0.0.1", 0, compression=None) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            source = WebSocketSource(f"ws://127.0.0.1:{port}", backoff=SOON, stall_s=0.3)
            heard = await listen(source, until=lambda heard: len(heard) == count)
            return heard, source.faults

    return asyncio.run(run())


def test_a_client_hears_frames_and_connects_again(listen: "Listen") -> None:
    async def answer(socket: ServerConnection) -> None:
        for number in range(3):
            await socket.send(frame(number))

    heard, faults = play_client(answer, listen, count=7)

    assert spell(heard) == ["chunk"] * 3 + ["disconnect"] + ["chunk"] * 3
    assert isinstance(heard[1], Chunk)
    np.testing.assert_allclose(heard[1].stamps_s, 0.1 + np.arange(10) / 100.0)
    assert faults["disconnect"] >= 1


def test_garbage_is_one_break_until_something_good_comes(listen: "Listen") -> None:
    async def answer(socket: ServerConnection) -> None:
        for data in (frame(0), b"\x00\xff", "hello", frame(1)[:-3], frame(1), frame(1), frame(3)):
            await socket.send(data)
        await socket.wait_closed()

    heard, faults = play_client(answer, listen, count=4)

    assert spell(heard) == ["chunk", "garbage", "chunk", "chunk"]
    assert faults["damaged frame"] == 3
    assert faults["repeated frame"] == 1
    assert faults["lost frame"] == 1


def test_a_source_that_stalls_in_the_middle_of_a_frame_has_stalled(listen: "Listen") -> None:
    async def stammer() -> AsyncIterator[bytes]:
        yield frame(1)[:20]
        await asyncio.sleep(0.8)
        yield frame(1)[20:]

    async def answer(socket: ServerConnection) -> None:
        await socket.send(frame(0))
        await socket.send(stammer())
        await socket.wait_closed()

    heard, faults = play_client(answer, listen, count=3)

    assert spell(heard) == ["chunk", "stall", "chunk"]
    assert faults["stall"] == 1


def test_an_endless_frame_is_cut_off(listen: "Listen") -> None:
    async def go_on() -> AsyncIterator[bytes]:
        while True:
            yield bytes(65536)

    async def answer(socket: ServerConnection) -> None:
        await socket.send(frame(0))
        try:
            await socket.send(go_on())
        except ConnectionClosed:
            return

    heard, faults = play_client(answer, listen, count=3)

    assert spell(heard) == ["chunk", "garbage", "chunk"]
    assert faults["oversized message"] == 1


def test_a_server_hears_one_device_with_the_token_and_no_other() -> None:
    async def run() -> tuple[Heard, Faults, list[int]]:
        source = WebSocketServerSource("127.0.0.1", 0, token="a secret")  # noqa: S106
        heard: Heard = []
        codes: list[int] = []

        async def hear() -> None:
            async with aclosing(source.stream()) as stream:
                async for piece in stream:
                    heard.append(piece)

        async def refuse(query: str) -> None:
            async with connect(f"ws://127.0.0.1:{source.port}/{query}", proxy=None) as other:
                await other.wait_closed()
                codes.append(other.close_code or 0)

        hearing = asyncio.create_task(hear())
        while source.port == 0:
            await asyncio.sleep(0.01)
        await refuse("?token=a%20guess")
        address = f"ws://127.0.0.1:{source.port}/?token=a%20secret"
        async with connect(address, proxy=None) as device:
            await device.send(frame(0))
            await refuse("?token=a%20secret")
            await device.send(frame(1))
            while len(heard) < 2:
                await asyncio.sleep(0.01)
        while len(heard) < 3:
            await asyncio.sleep(0.01)
        hearing.cancel()
        return heard, source.faults, codes

    heard, faults, codes = asyncio.run(run())

    assert spell(heard) == ["chunk", "chunk", "disconnect"]
    assert faults["refused caller"] == 2
    assert codes == [1008, 1013]


def test_a_port_that_is_taken_is_a_sentence(listen: "Listen") -> None:
    async def run() -> None:
        async with serve(lambda _: asyncio.sleep(0), "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}"):
                await listen(WebSocketServerSource("127.0.0.1", port), until=lambda _: False)
            with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}"):
                await listen(SensorLoggerSource("127.0.0.1", port), until=lambda _: False)

    asyncio.run(run())


def push(number: int, *, session: str = "one", gravity: float = 1.0) -> bytes:
    """Give what the app pushes in the second so and so: 25 readings of headphones that move."""
    readings = [
        {
            "name": "headphone",
            "time": 1_700_000_000_000_000_000 + 40_000_000 * (25 * number + place),
            "values": {
                "accelerationZ": 0.1 * (-1) ** place, "accelerationX": 0.01, "accelerationY": 0.0,
                "gravityX": 0.0, "gravityY": gravity, "gravityZ": 0.0, "rotationRateX": 3.0,
            },
        }
        for place in range(25)
    ]  # fmt: skip
    steps = [{"name": "pedometer", "time": 5, "values": {"steps": 7}}]
    message = {"messageId": number, "sessionId": session, "deviceId": "d", "payload": readings}
    return json.dumps(message | {"payload": steps + readings}).encode()


def play_http(
    talk: Callable[[httpx.AsyncClient], Awaitable[None]], *, token: str | None = None
) -> tuple[Heard, Faults]:
    """Let an HTTP client talk to the server of the source."""

    async def run() -> tuple[Heard, Faults]:
        source = SensorLoggerSource("127.0.0.1", 0, token=token)
        heard: Heard = []

        async def hear() -> None:
            async with aclosing(source.stream()) as stream:
                async for piece in stream:
                    heard.append(piece)

        hearing = asyncio.create_task(hear())
        while source.port == 0:
            await asyncio.sleep(0.01)
        base = f"http://127.0.0.1:{source.port}"
        async with httpx.AsyncClient(base_url=base, trust_env=False) as client:
            await talk(client)
        await asyncio.sleep(0.05)
        hearing.cancel()
        return heard, source.faults

    return asyncio.run(run())


@pytest.mark.parametrize(("gravity", "factor"), [(1.0, STANDARD_GRAVITY), (9.81, 1.0)])
def test_sensor_logger_pushes_headphones_in_either_unit(gravity: float, factor: float) -> None:
    async def talk(client: httpx.AsyncClient) -> None:
        for number in range(6):
            answer = await client.post("/data", content=push(number, gravity=gravity))
            assert answer.status_code == 200

    heard, faults = play_http(talk)

    chunks = [piece for piece in heard if isinstance(piece, Chunk)]
    samples = np.concatenate([chunk.samples for chunk in chunks], axis=1)
    stamps_s = np.concatenate([chunk.stamps_s for chunk in chunks])
    assert len(chunks) == len(heard)
    assert stamps_s[0] == pytest.approx(1_700_000_001.0)
    assert stamps_s.size == 125
    np.testing.assert_allclose(np.diff(stamps_s), 0.04, atol=1e-6)
    np.testing.assert_allclose(np.abs(samples[2]), 0.1 * factor)
    assert faults.total() == 0


def test_pushes_that_are_lost_repeated_or_of_another_session_are_told() -> None:
    async def talk(client: httpx.AsyncClient) -> None:
        for number in (0, 1, 2, 3, 3, 5):
            await client.post("/", content=push(number))
        await client.post("/", content=push(0, session="two"))

    heard, faults = play_http(talk)

    assert spell(heard) == ["chunk", "chunk", "disconnect"]
    assert +faults == {"lost frame": 1, "repeated frame": 1}


def test_requests_that_are_no_pushes_are_refused_counted_and_break() -> None:
    async def talk(client: httpx.AsyncClient) -> None:
        await client.post("/", content=frame(0))
        assert (await client.get("/")).status_code == 405
        assert (await client.post("/", content=bytes(LARGEST_BYTES + 1))).status_code == 413
        assert (await client.post("/", content=go_on())).status_code == 411
        assert (await client.post("/", content=b"{]")).status_code == 200
        await client.post("/", content=frame(1))

    async def go_on() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield bytes(10)

    heard, faults = play_http(talk)

    assert spell(heard) == ["chunk", "garbage", "chunk"]
    assert +faults == {"unknown message": 2, "oversized message": 1, "damaged frame": 1}


def test_only_who_knows_the_token_may_push() -> None:
    async def talk(client: httpx.AsyncClient) -> None:
        assert (await client.post("/", content=frame(0))).status_code == 401
        assert (await client.post("/?token=secret", content=frame(1))).status_code == 200
        headers = {"Authorization": "Bearer secret"}
        assert (await client.post("/", content=frame(2), headers=headers)).status_code == 200

    heard, faults = play_http(talk, token="secret")  # noqa: S106

    assert spell(heard) == ["chunk", "chunk"]
    assert faults["refused caller"] == 1


def test_half_a_request_holds_nothing_up() -> None:
    async def talk(client: httpx.AsyncClient) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
        writer.write(b"POST / HTTP/1.1\r\nContent-Length: 500\r\n\r\n{")
        await writer.drain()
        await client.post("/", content=frame(0))
        writer.close()

    heard, _ = play_http(talk)

    assert spell(heard) == ["chunk"]


def test_a_broker_is_heard_lost_and_found_again(mosquitto: "Mosquitto") -> None:
    async def run() -> tuple[Heard, Faults]:
        source = MqttSource(mosquitto.host, mosquitto.port, "ear/+", backoff=SOON)
        heard: Heard = []

        async def hear() -> None:
            async with aclosing(source.stream()) as stream:
                async for piece in stream:
                    heard.append(piece)

        async def publish(messages: Iterable[bytes], *, count: int) -> None:
            async with aiomqtt.Client(mosquitto.host, mosquitto.port) as client:
                for message in messages:
                    await client.publish("ear/left", message)
                    await asyncio.sleep(0.05)
                    if len(heard) >= count:
                        return

        hearing = asyncio.create_task(hear())
        async with asyncio.timeout(20):
            await publish(repeat(frame(7)), count=1)
            await publish(repeat(b"?" * (LARGEST_BYTES + 1)), count=2)
            await publish(repeat(frame(8)), count=3)
            mosquitto.stop()
            while len(heard) < 4:
                await asyncio.sleep(0.05)
            mosquitto.start()
            await publish(map(push, itertools.count()), count=5)
        hearing.cancel()
        return heard, source.faults

    heard, faults = asyncio.run(run())

    assert spell(heard)[:5] == ["chunk", "garbage", "chunk", "disconnect", "chunk"]
    assert faults["oversized message"] >= 1


def test_a_listener_that_falls_far_behind_is_told_and_given_the_newest() -> None:
    chunk = Chunk(samples=np.ones((3, 1)), stamps_s=np.zeros(1), received_s=0.0)

    async def flood(inbox: RelayInbox) -> None:
        inbox.put([chunk])
        await asyncio.sleep(0.05)
        inbox.put([chunk] * 1000)
        await asyncio.sleep(60)

    async def run() -> tuple[Heard, Faults]:
        faults = Faults()
        heard: Heard = []
        async with aclosing(relay(flood, faults=faults, stall_s=0.2)) as stream:
            async for piece in stream:
                heard.append(piece)
                await asyncio.sleep(0.1 if len(heard) == 1 else 0)
                if spell(heard)[-1] == "stall" and len(heard) > 10:
                    break
        return heard, faults

    heard, faults = asyncio.run(run())

    assert spell(heard)[:2] == ["chunk", "stall"]
    assert len(heard) < 300
    assert faults["overflow"] == 3
