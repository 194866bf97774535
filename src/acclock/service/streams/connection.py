"""One client's stream over a WebSocket: checked frames one way, decisions the other."""

import asyncio
import json
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from acclock.errors import AccLockError
from acclock.live.chunks import Break, Chunk
from acclock.service.metrics import Metrics
from acclock.service.refusals import RefusedError, as_body, as_refusal
from acclock.service.service import Service
from acclock.service.streams.listener import Message, StreamListener
from acclock.sources.frames import Frame, FrameError, decode, parse_json, read_frame

_NUMBERS = 2**32
_MOST_LOST = 1024
"""Frames: a number further ahead or behind belongs to another connection."""
_MOST_GARBAGE = 10
_REMEMBERED = 64
Control = dict[str, Any]


class FrameReader:
    """Reads the messages of one connection.

    The first number is drawn at random for each connection, so frames that were recorded on
    another one do not fit: they are refused as replayed.
    """

    def __init__(self, metrics: Metrics) -> None:
        self.nonce = secrets.token_hex(16)
        self.first = secrets.randbelow(_NUMBERS)
        self._next = self.first
        self._metrics = metrics
        self._garbage = 0
        self._numbers: deque[tuple[float, int]] = deque(maxlen=_REMEMBERED)
        self.received_s = time.monotonic()
        """When the last message came."""

    def read(self, data: bytes | str) -> Chunk | Break | Control | None:
        """Give what a message holds; nothing when it came before."""
        self.received_s = received_s = time.monotonic()
        try:
            if isinstance(data, bytes):
                return self._follow(decode(data), received_s)
            message = parse_json(data)
            if isinstance(message, dict) and "type" in message:
                return message
            return self._follow(read_frame(message), received_s)
        except FrameError as error:
            return self._complain(error, received_s)

    def number_at(self, received_s: float) -> int | None:
        """Give the number of the frame that was heard at a time."""
        newest_first = reversed(self._numbers)
        return next((number for at_s, number in newest_first if at_s == received_s), None)

    def _follow(self, frame: Frame, received_s: float) -> Chunk | None:
        ahead = (frame.sequence - self._next) % _NUMBERS
        if ahead >= _NUMBERS - _MOST_LOST and self._next != self.first:
            self._metrics.count("frames", "repeated")
            return None
        if ahead > _MOST_LOST:
            self._metrics.count("frames", "replayed")
            raise RefusedError(409, "replayed", "the frame is numbered as of another connection")
        if ahead:
            self._metrics.count("frames", "lost", ahead)
        self._metrics.count("frames", "taken")
        self._next = (frame.sequence + 1) % _NUMBERS
        self._numbers.append((received_s, frame.sequence))
        lost = ahead * frame.stamps_s.size
        return Chunk(
            samples=frame.samples, stamps_s=frame.stamps_s, received_s=received_s, lost=lost
        )

    def _complain(self, error: FrameError, received_s: float) -> Break:
        self._metrics.count("frames", "damaged")
        self._garbage += 1
        if self._garbage >= _MOST_GARBAGE:
            raise RefusedError(422, "garbage", f"too much of the stream cannot be read: {error}")
        return Break(reason="garbage", received_s=received_s)


_HELLO_S = 5.0
_SILENT_S = 15.0
"""A client that says nothing for so long is gone. Its session locked long before."""
_MOST_UNREAD = 128
_BUSY = 1013
_LAST_WORDS = {
    "shed": _BUSY,
    "revoked": 4401,
    "forgotten": 4404,
    "superseded": 4410,
    "ended": 1000,
}
"""Messages after which the connection is closed, and with which code."""

Obey = Callable[[Control], Awaitable[None]]


class Connection:
    """Sends and receives; what is said is somebody else's concern."""

    def __init__(self, service: Service, socket: WebSocket) -> None:
        self._service, self._socket = service, socket
        self.intake = FrameReader(service.metrics)
        self._unsent: asyncio.Queue[Message] = asyncio.Queue(_MOST_UNREAD)

    async def greet(self) -> Control:
        """Give the client its nonce and its first number, and hear its hello."""
        welcome = {
            "type": "welcome",
            "protocol": 1,
            "nonce": self.intake.nonce,
            "first_sequence": self.intake.first,
        }
        await self._socket.send_text(json.dumps(welcome))
        try:
            async with asyncio.timeout(_HELLO_S):
                message = self.intake.read(await self._receive())
        except TimeoutError:
            raise RefusedError(408, "too_slow", f"no hello came within {_HELLO_S:g} s") from None
        if not isinstance(message, dict):
            raise RefusedError(422, "bad_hello", "a stream begins with a hello")
        return message

    async def carry(self, listener: StreamListener, obey: Obey) -> None:
        """Carry frames to a listener and news back, until either side ends it."""
        works = self._send_all(), self._listen(listener, obey), self._notice_silence()
        tasks = [asyncio.create_task(work) for work in works]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def say(self, message: Message) -> None:
        """Queue something for the client; one who does not read is cut off."""
        if self._unsent.full():
            while not self._unsent.empty():
                self._unsent.get_nowait()
            self._service.metrics.count("refusals", "slow reader")
            self._unsent.put_nowait({"type": "shed", "sentence": "messages are not being read"})
        else:
            self._unsent.put_nowait(message)

    async def refuse(self, error: AccLockError) -> None:
        """Say why not, and close."""
        refusal = as_refusal(error)
        self._service.metrics.count("refusals", refusal.code)
        if self._socket.application_state is WebSocketState.CONNECTED:
            with suppress(WebSocketDisconnect, RuntimeError, OSError):
                await self._socket.send_text(json.dumps({"type": "error"} | as_body(refusal)))
                later = refusal.status in (503, 507) or refusal.wait_s is not None
                code = _BUSY if later else 4000 + refusal.status
                await self._socket.close(code, refusal.code)

    async def _send_all(self) -> None:
        while True:
            message = await self._unsent.get()
            await self._socket.send_text(json.dumps(message))
            if (code := _LAST_WORDS.get(message["type"])) is not None:
                await self._socket.close(code, str(message["type"]))
                return

    async def _listen(self, listener: StreamListener, obey: Obey) -> None:
        while True:
            piece = self.intake.read(await self._receive())
            if isinstance(piece, dict):
                await obey(piece)
            elif isinstance(piece, Chunk | Break) and not self._service.engine.feed(
                listener, piece
            ):
                raise RefusedError(429, "flood", "frames come faster than they can be taken")

    async def _notice_silence(self) -> None:
        """End when nothing has come for too long; cheaper than a time-out for every frame."""
        while (left_s := self.intake.received_s + _SILENT_S - time.monotonic()) > 0.0:
            await asyncio.sleep(left_s)
        raise RefusedError(408, "silent", f"nothing came for {_SILENT_S:g} s")

    async def _receive(self) -> bytes | str:
        message: Any = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1006))
        data: bytes | str | None = message.get("bytes")
        return message.get("text", "") if data is None else data
