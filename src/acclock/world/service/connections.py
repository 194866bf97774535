"""One client's stream over a WebSocket: hello, then frames one way and decisions the other."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from acclock.errors import AccLockError
from acclock.session.chunks import Break, Chunk
from acclock.world.service.intake import Control, Intake
from acclock.world.service.listeners import Listener, Message
from acclock.world.service.refusals import RefusedError, as_body, as_refusal
from acclock.world.service.service import Service

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
        self.intake = Intake(service.metrics)
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

    async def carry(self, listener: Listener, obey: Obey) -> None:
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

    async def _listen(self, listener: Listener, obey: Obey) -> None:
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
        while (left_s := self.intake.heard_s + _SILENT_S - time.monotonic()) > 0.0:
            await asyncio.sleep(left_s)
        raise RefusedError(408, "silent", f"nothing came for {_SILENT_S:g} s")

    async def _receive(self) -> bytes | str:
        message: Any = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1006))
        data: bytes | str | None = message.get("bytes")
        return message.get("text", "") if data is None else data
