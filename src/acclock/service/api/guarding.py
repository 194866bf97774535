"""What every answer carries and every request must bear: host names, headers, origins, sizes."""

import asyncio
import re
import socket
from contextlib import ExitStack
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from acclock.errors import ConfigError
from acclock.service.config import ServiceConfig
from acclock.service.connections import ConnectionLimits
from acclock.service.metrics import Metrics
from acclock.service.refusals import RefusedError, as_response

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?")


def find_host_names(config: ServiceConfig) -> frozenset[str]:
    """Give the names of a service: those that were allowed, its own and its certificate's."""
    own = ("localhost", config.host, socket.gethostname())
    certified = () if config.certificate is None else _read_names(config.certificate)
    return frozenset(name.lower() for name in (*config.allowed_hosts, *own, *certified))


def is_allowed(host: str, names: frozenset[str]) -> bool:
    """Tell whether a ``Host`` is an address or one of the names; ``*.`` stands for one label.

    A page whose name its owner has pointed at this machine calls us by that name, as if it were
    our own page. An address in numbers cannot be pointed elsewhere.

    >>> names = frozenset({"localhost", "*.example.org"})
    >>> [is_allowed(host, names) for host in ("LOCALHOST:80", "[::1]", "a.example.org", "evil.io")]
    [True, True, True, False]
    """
    found = _HOST.fullmatch(host)
    if found is None:
        return False
    name = found[1].strip("[]").lower().removesuffix(".")
    return is_address(name) or name in names or f"*.{name.partition('.')[2]}" in names


def is_address(name: str) -> bool:
    """Tell whether a name is an address in numbers."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _read_names(certificate: Path) -> list[str]:
    try:
        own, *_ = x509.load_pem_x509_certificates(certificate.read_bytes())
        names = own.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    except ValueError as error:
        raise ConfigError(f"the names in {certificate} cannot be read: {error}") from error
    return names.value.get_values_for_type(x509.DNSName)


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
"""Posts that look at the token first, and then allow more of a body (uploads.receive)."""
_EVENTS = "/v1/events"
_ALWAYS = frozenset({"/v1/health", "/v1/ready"})
"""Answered however many connections there are: small, from memory, and without reading a body."""


class RequestGuard:
    """Refuses other hosts' names, other origins' pages and crowds; sets headers for browsers."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        config: ServiceConfig,
        connections: ConnectionLimits,
        metrics: Metrics,
    ) -> None:
        self._app, self._connections, self._metrics = app, connections, metrics
        self._origins, self._names = frozenset(config.origins), find_host_names(config)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.count("requests", str(message["status"]))
                _set_headers(scope, message)
            await send(message)

        with ExitStack() as held:
            try:
                self._check_caller(Headers(scope=scope))
                if _is_short(scope):
                    address = scope["client"][0] if scope.get("client") else "nowhere"
                    held.enter_context(self._connections.connected(address, kind="short"))
            except RefusedError as refusal:
                self._metrics.count("refusals", refusal.code)
                await _turn_away(scope, receive, send_guarded, refusal)
                return
            if scope["type"] == "http" and not _is_upload(scope):
                receive = bounded(receive)
            await self._app(scope, receive, send_guarded)

    def _check_caller(self, headers: Headers) -> None:
        """Let programs call, which name no origin, and pages of ours or of origins we know."""
        host, origin = headers.get("host"), headers.get("origin")
        if host is not None and not is_allowed(host, self._names):
            raise RefusedError(
                421,
                "unknown_host",
                f"{host[:80]!r} is no name of this service; `--allowed-host` gives it one more",
            )
        if origin is None or origin in self._origins:
            return
        if urlsplit(origin).netloc != host:
            raise RefusedError(403, "origin", "pages of this origin may not call")


def _is_short(scope: Scope) -> bool:
    """Tell whether a request counts for its address alone.

    Streams, events and uploads are counted once their token is known.
    """
    if scope["type"] == "websocket" or scope["path"] in (_EVENTS, *_ALWAYS):
        return False
    return not _is_upload(scope)


def _is_upload(scope: Scope) -> bool:
    return scope["method"] == "POST" and _UPLOADS.fullmatch(scope["path"]) is not None


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


async def _turn_away(scope: Scope, receive: Receive, send: Send, refusal: RefusedError) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 4403, "reason": refusal.code})
        return
    await as_response(refusal)(scope, receive, send)
