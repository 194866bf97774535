"""Connections that take their time: each is heard for a while, and only so many at once."""

import json
import sys
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from acclock.world.service.refusals import RefusedError, as_body

HEAD_S = 10.0
"""How long a request's head may take, from the connection or from the answer before."""
_OTHER_FILES = 256
"""Handles of a process that are no connection: the database, the model, the log."""
_FULL = RefusedError(503, "busy", "there are too many connections; come back later", wait_s=1)
_HEADERS = [
    (b"Content-Type", b"application/json"),
    (b"Connection", b"close"),
    (b"Retry-After", b"1"),
]


class PatientProtocol(H11Protocol):
    """Closes connections that do not finish the head of a request, one byte at a time.

    When there are too many, those who have waited longest without a request make room: whoever
    comes with one is heard, however many others only keep their connections open.
    """

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - uvicorn's own signature
        super().connection_made(transport)
        self._wait()
        most = self.limit_concurrency
        if most is not None and len(self.connections) >= most:
            self._make_room(most)

    def connection_lost(self, exc: Exception | None) -> None:
        self._impatience.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._impatience.cancel()
        self._wait()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._impatience.cancel()  # from here on the stream has timeouts of its own
        super().handle_websocket_upgrade(event)

    @property
    def is_idle(self) -> bool:
        """Whether no request is being worked on."""
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]

    def _wait(self) -> None:
        self._since_s = self.loop.time()
        self._impatience = self.loop.call_later(HEAD_S, self._lose_patience)

    def _lose_patience(self) -> None:
        if self.is_idle and not self.transport.is_closing():
            self.transport.close()

    def _make_room(self, most: int) -> None:
        """Turn the longest idle tenth away; it is the newcomer alone when nobody else is idle."""
        others = (one for one in self.connections if isinstance(one, PatientProtocol))
        idle = sorted((one for one in others if one.is_idle), key=lambda one: one._since_s)
        for one in idle[: 1 + most // 10]:
            one._turn_away()

    def _turn_away(self) -> None:
        self.connections.discard(self)
        if not self.transport.is_closing() and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            answer = h11.Response(status_code=503, headers=_HEADERS, reason=b"Service Unavailable")
            said = h11.Data(data=json.dumps(as_body(_FULL)).encode())
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
