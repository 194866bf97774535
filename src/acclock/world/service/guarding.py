"""What every answer carries and every request must bear: headers, origins, counts, sizes."""

import asyncio
import json
import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from acclock.world.service.metrics import Metrics
from acclock.world.service.refusals import RefusedError, as_body

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; "
        "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), hid=(), microphone=(), serial=(), usb=()",
}
_ONLY_TLS = f"max-age={180 * 86400}"
_MOST_BYTES = 65536
_BODY_S = 10.0
"""Of a body, which is read before anybody has looked at the token."""
_UPLOADS = re.compile(r"/v1/(push|people(/[^/]+/verify)?)")
"""These look at the token first, and then allow more of a body (uploads.receive)."""


class Guard:
    """Refuses pages of other origins, and sets the headers that browsers obey."""

    def __init__(self, app: ASGIApp, *, origins: tuple[str, ...], metrics: Metrics) -> None:
        self._app, self._origins, self._metrics = app, frozenset(origins), metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if not self._may_call(Headers(scope=scope)):
            self._metrics.count("refusals", "origin")
            await _turn_away(scope, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.count("requests", str(message["status"]))
                _set_headers(scope, message)
            await send(message)

        if scope["type"] == "http" and not _UPLOADS.fullmatch(scope["path"]):
            receive = bounded(receive)
        await self._app(scope, receive, send_guarded)

    def _may_call(self, headers: Headers) -> bool:
        """Let programs call, which name no origin, and pages of ours or of origins we know."""
        origin = headers.get("origin")
        if origin is None or origin in self._origins:
            return True
        return urlsplit(origin).netloc == headers.get("host")


def _set_headers(scope: Scope, answer: Message) -> None:
    headers = MutableHeaders(scope=answer)
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    if scope["scheme"] == "https":
        headers.setdefault("Strict-Transport-Security", _ONLY_TLS)
    if scope["path"].startswith(("/v1", "/metrics")):
        headers.setdefault("Cache-Control", "no-store")


def bounded(receive: Receive) -> Receive:
    """Give the parts of a body for as long as it is neither too large nor too slow."""
    deadline_s = asyncio.get_running_loop().time() + _BODY_S
    size, ended = 0, False

    async def receive_part() -> Message:
        nonlocal size, ended
        if ended:  # what comes now is the end of the connection, for which an answer may wait
            return await receive()
        try:
            async with asyncio.timeout_at(deadline_s):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, f"the body took longer than {_BODY_S:g} s") from None
        size += len(message.get("body", b""))
        ended = not message.get("more_body", False)
        if size > _MOST_BYTES:
            raise HTTPException(413, f"a body has at most {_MOST_BYTES} bytes here")
        return message

    return receive_part


async def _turn_away(scope: Scope, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 4403, "reason": "origin"})
        return
    refusal = RefusedError(403, "origin", "pages of this origin may not call")
    start = {"type": "http.response.start", "status": 403}
    await send(start | {"headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(as_body(refusal)).encode()})
