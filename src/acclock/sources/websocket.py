"""Frames over a WebSocket: from a server that we call, or from a device that calls us."""

import time

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidURI, WebSocketException
from websockets.uri import parse_uri

from acclock.errors import ConfigError
from acclock.sources.frames import LARGEST_BYTES
from acclock.sources.messages import Reader
from acclock.sources.relay import (
    STALL_S,
    Backoff,
    RelayInbox,
    keep_connected,
    may_call,
    relay,
    saying_where,
)
from acclock.sources.source import Faults, Stream, break_off

_MOST_WAITING = 16
"""Frames that a socket buffers before it makes its sender wait."""
_TOO_BIG = 1009
_TRY_LATER, _REFUSED = 1013, 1008
_FAILURES = (OSError, WebSocketException)


class WebSocketSource:
    """A client: connects to ``ws://`` or ``wss://``, and again whenever the connection is lost."""

    def __init__(
        self,
        url: str,
        *,
        rate_hz: float = 100.0,
        stall_s: float = STALL_S,
        backoff: Backoff | None = None,
    ) -> None:
        try:
            parse_uri(url)
        except InvalidURI:
            raise ConfigError(f"'{url}' is not an address like ws://host:port/path") from None
        self.name = url
        self.rate_hz = rate_hz
        self.faults: Faults = Faults()
        self._stall_s = stall_s
        self._backoff = backoff or Backoff()

    def now_s(self) -> float:
        return time.monotonic()

    def stream(self) -> Stream:
        return relay(self._feed, faults=self.faults, stall_s=self._stall_s)

    async def _feed(self, inbox: RelayInbox) -> None:
        reader = Reader(self.faults)

        async def listen() -> None:
            async with connect(
                self.name,
                max_size=LARGEST_BYTES,
                max_queue=_MOST_WAITING,
                compression=None,
                proxy=None,
            ) as socket:
                reader.forget()
                try:
                    async for message in socket:
                        inbox.put(reader.read(message, time.monotonic()))
                except ConnectionClosed as closed:
                    _note(closed, inbox, self.faults)

        await keep_connected(
            listen, inbox, failures=_FAILURES, faults=self.faults, backoff=self._backoff
        )


class WebSocketServerSource:
    """A server: one device at a time calls it and sends frames; pages in a browser may not.

    With a ``token`` a device must call ``ws://host:port/?token=...``.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        rate_hz: float = 100.0,
        token: str | None = None,
        stall_s: float = STALL_S,
    ) -> None:
        self.name = f"ws-server:{host}:{port}"
        self.rate_hz = rate_hz
        self.faults: Faults = Faults()
        self.port = port
        """Where it listens; of port 0 it is known once the stream is read."""
        self._host = host
        self._token = token
        self._stall_s = stall_s
        self._taken = False

    def now_s(self) -> float:
        return time.monotonic()

    def stream(self) -> Stream:
        return relay(self._feed, faults=self.faults, stall_s=self._stall_s)

    async def _feed(self, inbox: RelayInbox) -> None:
        async def answer(socket: ServerConnection) -> None:
            await self._answer(socket, inbox)

        with saying_where(self._host, self.port):
            server = await serve(
                answer,
                self._host,
                self.port,
                max_size=LARGEST_BYTES,
                max_queue=_MOST_WAITING,
                compression=None,
                origins=[None],
            )
        async with server:
            self.port = next(iter(server.sockets)).getsockname()[1]
            await server.serve_forever()

    async def _answer(self, socket: ServerConnection, inbox: RelayInbox) -> None:
        refusal = _TRY_LATER if self._taken else None if self._may_call(socket) else _REFUSED
        if refusal is not None:
            self.faults["refused caller"] += 1
            await socket.close(refusal)
            return
        self._taken = True
        reader = Reader(self.faults)
        try:
            async for message in socket:
                inbox.put(reader.read(message, time.monotonic()))
        except ConnectionClosed as closed:
            _note(closed, inbox, self.faults)
        finally:
            self._taken = False
            self.faults["disconnect"] += 1
            inbox.put([break_off("disconnect")])

    def _may_call(self, socket: ServerConnection) -> bool:
        return may_call(socket.request.path if socket.request else "", token=self._token)


def _note(closed: ConnectionClosed, inbox: RelayInbox, faults: Faults) -> None:
    """Tell a frame that did not end from a connection that did."""
    if closed.sent is not None and closed.sent.code == _TOO_BIG:
        faults["oversized message"] += 1
        inbox.put([break_off("garbage")])
