"""Connections: how many there may be, and patience with slow ones."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Literal, NoReturn

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from acclock.service.auth.roles import Caller
from acclock.service.metrics import Metrics
from acclock.service.refusals import RefusedError, as_body

_RESERVED = 100
"""Connections that only operators may take, and as many again that no long connection takes: they
are left to short requests. Health is asked over what short requests leave, as many once more."""
_WAIT_S = 10.0

Kind = Literal["long", "short"]
"""``long``: a stream, events or an upload, whose token is known. ``short``: everything else, from
its head to the end of its answer, and a stream until its hello."""


class ConnectionLimits:
    """Counts what one process holds open. Used on the event loop alone.

    What has no token yet counts for its address; a token counts wherever it is used. Idle
    connections are not counted here: they make room (:mod:`acclock.service.connections`).
    """

    def __init__(self, metrics: Metrics, *, per_token: int, per_address: int, most: int) -> None:
        self._metrics = metrics
        self._per_token, self._per_address, self._most = per_token, per_address, most
        self._reserved = min(_RESERVED, most // 4)
        self._held: Counter[Hashable] = Counter()

    @property
    def held(self) -> int:
        """How many are open."""
        return self._held["all"]

    @contextmanager
    def checked(self, address: str, secret: str) -> Iterator[None]:
        """Hold a call whose token is being looked up, or refuse it.

        Others wait behind it for a thread, so that one secret from many addresses is bounded too.
        """
        places = {
            "address": ("check", network_of(address)),
            "token": ("check", sha256(secret.encode()).digest()),
        }
        for what, place in places.items():
            if self._held[place] >= self._per_address:
                self._refuse(what, self._per_address)
        with self._counted(places["address"]), self._counted(places["token"]):
            yield

    @contextmanager
    def identified(self, caller: Caller, address: str) -> Iterator[None]:
        """Hold a long connection of somebody whose token is known, or refuse it."""
        place = ("token", caller.token)
        if self._held[place] >= self._per_token:
            self._refuse("token", self._per_token)
        with (
            self.connected(address, kind="long", operator=caller.is_operator),
            self._counted(place),
        ):
            yield

    @contextmanager
    def connected(self, address: str, *, kind: Kind, operator: bool = False) -> Iterator[None]:
        """Hold a connection of an address, or refuse it."""
        place = (kind, network_of(address))
        if self._held[place] >= self._per_address + self._reserved * operator:
            self._refuse("address", self._per_address)
        if self.held >= self._most - self._reserved * self._shares_left(kind, operator=operator):
            self._metrics.count("connections_refused", "all")
            raise RefusedError(
                503, "busy", "there are too many connections; come back later", wait_s=_WAIT_S
            )
        with self._counted("all"), self._counted(place):
            yield

    @staticmethod
    def _shares_left(kind: Kind, *, operator: bool) -> int:
        """Give how many reserved shares a connection must leave free.

        >>> ConnectionLimits._shares_left("long", operator=False)
        3
        """
        if kind == "short":
            return 1
        return 2 if operator else 3

    def _refuse(self, what: str, most: int) -> NoReturn:
        self._metrics.count("connections_refused", what)
        raise RefusedError(
            429,
            "too_many_connections",
            f"this {what} holds too many connections already: at most {most} may be open",
            wait_s=_WAIT_S,
        )

    @contextmanager
    def _counted(self, what: Hashable) -> Iterator[None]:
        self._held[what] += 1
        try:
            yield
        finally:
            self._held[what] -= 1
            if not self._held[what]:
                del self._held[what]


def network_of(address: str) -> str:
    """Give what is counted as one address: of IPv6 the 64 bits that one customer has to himself.

    >>> network_of("2001:db8::1") == network_of("2001:db8::2"), network_of("::ffff:192.0.2.7")
    (True, '192.0.2.7')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Address(int(found) >> 64 << 64))


def is_within(address: str, networks: tuple[str, ...]) -> bool:
    """Tell whether an address is one of these, or in one of these networks.

    >>> is_within("10.1.2.3", ("127.0.0.1", "10.0.0.0/8")), is_within("10.1.2.3", ())
    (True, False)
    """
    return any(ip_address(address) in ip_network(network) for network in networks)


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
