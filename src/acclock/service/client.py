"""A small client in Python: stream samples, hear decisions, enroll somebody.

The messages are those of docs/service.md; ``static`` has the same in JavaScript.
"""

import json
import ssl
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from acclock.errors import AccLockError
from acclock.sources.frames import encode
from acclock.values import FloatArray

Message = dict[str, Any]


class StreamRefusedError(AccLockError):
    """The service did not take the stream; ``code`` is for programs."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class StreamClient:
    """One stream: ``async with StreamClient(url, token, person="anna") as stream``.

    ``url`` is that of the service, as ``ws://127.0.0.1:8377``; further arguments are those of a
    hello: ``purpose``, ``device``, ``rate_hz``, ``consent``, ``policy``, ``entry``, ``trace``.
    ``tls`` is whom to trust when ``url`` begins with wss: the system's authorities unless told.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        person: str,
        tls: ssl.SSLContext | None = None,
        **hello: object,
    ) -> None:
        self._tls: dict[str, Any] = {} if tls is None else {"ssl": tls}
        self._url = f"{url.rstrip('/')}/v1/stream"
        self._hello = {"type": "hello", "token": token, "person": person} | hello
        self._socket: ClientConnection | None = None
        self._sequence = 0
        self.ready: Message = {}
        """What the service said about the session when it began."""

    async def __aenter__(self) -> Self:
        self._socket = await connect(
            self._url, compression=None, proxy=None, max_queue=64, **self._tls
        )
        try:
            await self._greet()
        except BaseException:
            await self._socket.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._open.close()

    async def send(self, samples: FloatArray, *, time_us: int, period_us: int) -> int:
        """Send evenly spaced samples ``(3, n)`` in m/s²; give the number of the frame."""
        number = self._sequence
        frame = encode(samples, sequence=number, time_us=time_us, period_us=period_us)
        self._sequence = (number + 1) % 2**32
        await self._open.send(frame)
        return number

    async def say(self, message: Message) -> None:
        """Send a message, as ``{"type": "finish"}``."""
        await self._open.send(json.dumps(message))

    async def hear(self) -> AsyncIterator[Message]:
        """Give what the service says until it ends the stream; raise what it refuses."""
        try:
            async for data in self._open:
                yield self._read(data)
        except ConnectionClosed:
            return

    async def _greet(self) -> None:
        try:
            welcome = json.loads(await self._open.recv())
            self._sequence = welcome["first_sequence"]
            await self.say(self._hello | {"nonce": welcome["nonce"]})
            self.ready = self._read(await self._open.recv())
        except ConnectionClosed as closed:
            raise StreamRefusedError("closed", f"the service closed the stream: {closed}") from None

    @property
    def _open(self) -> ClientConnection:
        if self._socket is None:
            raise StreamRefusedError("closed", "the stream is not open; use it in `async with`")
        return self._socket

    def _read(self, data: str | bytes) -> Message:
        message: Message = json.loads(data)
        if message["type"] == "error":
            raise StreamRefusedError(**message["error"])
        return message
