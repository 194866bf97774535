"""Connections that take their time: each is heard for a while, and only so many at once."""

import asyncio
import json
import sys
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from acclock.world.service.connection_limits import is_within, network_of
from acclock.world.service.refusals import RefusedError, as_body

HEAD_S = 10.0
"""How long a request's head may take, from the connection or from the answer before."""
READ_S = 10.0
"""How long an answer may wait for its caller to read on."""
_OTHER_FILES = 256
"""Handles of a process that are no connection: the database, the model, the log."""
_FULL = RefusedError(503, "busy", "there are too many connections; come back later", wait_s=1)
_CROWD = RefusedError(
    429, "too_many_connections", "there are too many connections of this address", wait_s=1
)
_HEADERS = [
    (b"Content-Type", b"application/json"),
    (b"Connection", b"close"),
    (b"Retry-After", b"1"),
]


class PatientProtocol(H11Protocol):
    """Closes connections that do not finish the head of a request, or do not read the answer.

    When there are too many, those who have waited longest without a request make room: whoever
    comes with one is heard, however many others only keep their connections open. Of one address
    so many may be idle and no more.
    """

    _unread: asyncio.TimerHandle | None = None
    most_idle: int | None = None
    """Of one address."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks that are not counted, since many call through them."""

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - uvicorn's own signature
        super().connection_made(transport)
        self._wait()
        most = self.limit_concurrency
        if most is not None and len(self.connections) >= most:
            self._make_room(most)
        if self.most_idle is not None and len(self.connections) > self.most_idle:
            self._thin_out(self.most_idle)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(READ_S, self.transport.abort)  # a close would wait

    def resume_writing(self) -> None:
        super().resume_writing()
        self._read_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self._impatience.cancel()
        self._read_on()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._impatience.cancel()
        self._wait()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._impatience.cancel()  # from here on the stream has timeouts of its own
        self._read_on()
        super().handle_websocket_upgrade(event)

    @property
    def is_idle(self) -> bool:
        """Whether no request is being worked on."""
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]

    @property
    def _network(self) -> str | None:
        return network_of(self.client[0]) if self.client else None

    def _read_on(self) -> None:
        if self._unread is not None:
            self._unread.cancel()

    def _wait(self) -> None:
        self._since_s = self.loop.time()
        self._impatience = self.loop.call_later(HEAD_S, self._lose_patience)

    def _lose_patience(self) -> None:
        if self.is_idle and not self.transport.is_closing():
            self.transport.close()

    def _make_room(self, most: int) -> None:
        """Turn the longest idle tenth away; it is the newcomer alone when nobody else is idle."""
        for one in self._find_idle()[: 1 + most // 10]:
            one._turn_away(_FULL)

    def _thin_out(self, most: int) -> None:
        """Turn the longest idle of this address away when it has too many."""
        if self.client is None or is_within(self.client[0], self.trusted_proxies):
            return
        ours = [one for one in self._find_idle() if one._network == self._network]
        for one in ours[: max(0, len(ours) - most)]:
            one._turn_away(_CROWD)

    def _find_idle(self) -> list["PatientProtocol"]:
        """Give the connections without a request, the longest idle first."""
        others = (one for one in self.connections if isinstance(one, PatientProtocol))
        return sorted((one for one in others if one.is_idle), key=lambda one: one._since_s)

    def _turn_away(self, refusal: RefusedError) -> None:
        self.connections.discard(self)
        if not self.transport.is_closing() and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            reason = HTTPStatus(refusal.status).phrase.encode()
            answer = h11.Response(status_code=refusal.status, headers=_HEADERS, reason=reason)
            said = h11.Data(data=json.dumps(as_body(refusal)).encode())
            for event in (answer, said, h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def allow_connections(wanted: int) -> int:
    """Let this process hold so many connections, or what the system allows; give how many."""
    if sys.platform == "win32":
        return wanted
    # a module that Windows does not have
    import resource

    files = wanted + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < files:
        soft = files if hard == resource.RLIM_INFINITY else min(files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - _OTHER_FILES))
