"""One HTTP POST over asyncio: bounded in time, never redirected, the certificate checked."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from acclock.errors import SinkError

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_MOST = 4096
"""How much of an answer is read: a refusal's reason, not a web page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What the receiver said."""

    code: int
    text: str


def checked_url(url: str) -> SplitResult:
    """Give the parts of an address that may be posted to, or say why it may not."""
    parts = urlsplit(url)
    try:
        port_is_right = parts.port is None or parts.port > 0
    except ValueError:
        port_is_right = False
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_right:
        raise SinkError(f"{url!r} is not an address like https://receiver.example/events")
    if parts.scheme == "http" and parts.hostname not in _LOCAL:
        raise SinkError(f"events go to {parts.hostname} by https:// only")
    if parts.username or parts.password:
        raise SinkError("a password does not belong into the address; use ACCLOCK_WEBHOOK_TOKEN")
    if any(ord(c) <= ord(" ") or ord(c) > ord("~") for c in url):
        raise SinkError("the address holds a character that must be escaped")
    return parts


async def post(
    url: str, body: bytes, headers: Mapping[str, str], *, timeout_s: float
) -> HttpAnswer:
    """Send a body and give the answer; a network that fails is a :class:`SinkError`."""
    parts = checked_url(url)
    try:
        async with asyncio.timeout(timeout_s):
            return await _exchange(parts, _request(parts, body, headers))
    except TimeoutError:
        raise SinkError(f"{parts.hostname} did not answer within {timeout_s:g} s") from None
    except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
        raise SinkError(f"{parts.hostname} cannot be told: {error}") from error


async def _exchange(parts: SplitResult, request: bytes) -> HttpAnswer:
    secure = ssl.create_default_context() if parts.scheme == "https" else None
    port = parts.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=secure, limit=_MOST)
    try:
        writer.write(request)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        code = int(head.split(b" ", 2)[1])
        return HttpAnswer(code=code, text=await _some_text(reader))
    finally:
        writer.close()


async def _some_text(reader: asyncio.StreamReader) -> str:
    try:
        async with asyncio.timeout(1.0):  # the code is what counts; do not wait for prose
            text = await reader.read(_MOST)
    except (TimeoutError, OSError):
        return ""
    return text.decode("utf-8", "replace")


def _request(parts: SplitResult, body: bytes, headers: Mapping[str, str]) -> bytes:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = parts.netloc
    lines = [
        f"POST {target} HTTP/1.1",
        f"Host: {host}",
        "Connection: close",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body
