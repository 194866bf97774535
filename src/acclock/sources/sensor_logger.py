"""The phone app Sensor Logger, pushing over HTTP what headphones feel."""

import asyncio
import time
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader, StreamWriter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from acclock.sources.frames import LARGEST_BYTES
from acclock.sources.messages import Reader
from acclock.sources.relay import STALL_S, RelayInbox, may_call, relay, saying_where
from acclock.sources.source import Faults, Stream, break_off

_LARGEST_HEAD = 8192
_MOST_CALLERS = 8
_LINGERING_S, _LINGERING_BYTES = 1.0, 4_194_304
_REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 405: "Method Not Allowed",
    411: "Length Required", 413: "Content Too Large", 503: "Service Unavailable",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PostRequest:
    """One request: where it went, who says to have sent it, and what is in it."""

    path: str
    authorization: str
    body: bytes


class PostServer:
    """Reads requests on a connection one after the other, each within a time and a size.

    ``handle`` gives the status of the answer; ``complain`` hears the status of each refusal.
    """

    def __init__(
        self,
        handle: Callable[[PostRequest], int],
        complain: Callable[[int], None],
        *,
        largest_body: int,
        patience_s: float = 10.0,
    ) -> None:
        self._handle = handle
        self._complain = complain
        self._largest_body = largest_body
        self._patience_s = patience_s
        self._callers = 0

    async def listen(self, host: str, port: int) -> asyncio.Server:
        return await asyncio.start_server(self._serve, host, port, limit=_LARGEST_HEAD)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._callers += 1
        try:
            going_on = True
            while going_on:
                async with asyncio.timeout(self._patience_s):
                    status = await self._answer(reader)
                    going_on = status == 200 and self._callers <= _MOST_CALLERS
                    writer.write(_respond(status, going_on))
                    await writer.drain()
            await self._linger(reader)
        except (IncompleteReadError, OSError, TimeoutError):
            pass  # the caller went away, or never came to an end
        finally:
            self._callers -= 1
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _linger(self, reader: StreamReader) -> None:
        """Read on for a while: who is cut off while it sends never sees the answer."""
        async with asyncio.timeout(_LINGERING_S):
            for _ in range(_LINGERING_BYTES // _LARGEST_HEAD):
                if not await reader.read(_LARGEST_HEAD):
                    return

    async def _answer(self, reader: StreamReader) -> int:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except LimitOverrunError:
            return self._refuse(413)
        if self._callers > _MOST_CALLERS:
            return self._refuse(503)
        method, path, fields = _parse(head)
        length = fields.get("content-length", "")
        if method != "POST":
            return self._refuse(405 if method else 400)
        if not length.isdecimal() or len(length) > 12:
            return self._refuse(411)
        if int(length) > self._largest_body:
            return self._refuse(413)
        body = await reader.readexactly(int(length))
        post = PostRequest(path=path, authorization=fields.get("authorization", ""), body=body)
        return self._handle(post)

    def _refuse(self, status: int) -> int:
        self._complain(status)
        return status


def _parse(head: bytes) -> tuple[str, str, dict[str, str]]:
    """Read the request line and the header fields; no method when it is not HTTP."""
    first, *rest = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        return "", "", {}
    pairs = (line.partition(":") for line in rest if ":" in line)
    return words[0], words[1], {name.strip().lower(): value.strip() for name, _, value in pairs}


def _respond(status: int, going_on: bool) -> bytes:
    stays = "keep-alive" if going_on else "close"
    return (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Length: 0\r\nConnection: {stays}\r\n\r\n"
    ).encode()


class SensorLoggerSource:
    """A server for the app's HTTP push. It takes our own frames, too.

    With a ``token`` the app must push to ``http://host:port/?token=...`` or send it as
    ``Authorization: Bearer``.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        rate_hz: float = 25.0,
        token: str | None = None,
        stall_s: float = STALL_S,
    ) -> None:
        self.name = f"sensor-logger:http://{host}:{port}"
        self.rate_hz = rate_hz
        self.faults: Faults = Faults()
        self.port = port
        """Where it listens; of port 0 it is known once the stream is read."""
        self._host = host
        self._token = token
        self._stall_s = stall_s

    def now_s(self) -> float:
        return time.monotonic()

    def stream(self) -> Stream:
        return relay(self._feed, faults=self.faults, stall_s=self._stall_s)

    async def _feed(self, inbox: RelayInbox) -> None:
        reader = Reader(self.faults)

        def take(post: PostRequest) -> int:
            if not may_call(post.path, token=self._token, authorization=post.authorization):
                self.faults["refused caller"] += 1
                return 401
            inbox.put(reader.read(post.body, time.monotonic()))
            return 200

        def complain(status: int) -> None:
            self.faults["oversized message" if status == 413 else "unknown message"] += 1
            inbox.put([break_off("garbage")])

        posts = PostServer(take, complain, largest_body=LARGEST_BYTES)
        with saying_where(self._host, self.port):
            server = await posts.listen(self._host, self.port)
        async with server:
            self.port = server.sockets[0].getsockname()[1]
            await server.serve_forever()
