"""A small HTTP server that takes POST requests of bounded size, and nothing else."""

import asyncio
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader, StreamWriter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

_LARGEST_HEAD = 8192
_MOST_CALLERS = 8
_LINGERING_S, _LINGERING_BYTES = 1.0, 4_194_304
_REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 405: "Method Not Allowed",
    411: "Length Required", 413: "Content Too Large", 503: "Service Unavailable",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
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
        handle: Callable[[Post], int],
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
        post = Post(path=path, authorization=fields.get("authorization", ""), body=body)
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
