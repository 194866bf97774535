"""How many connections an address and a token may hold, with room kept for operators and health."""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Literal, NoReturn

from acclock.world.service.metrics import Metrics
from acclock.world.service.refusals import RefusedError
from acclock.world.service.roles import Caller

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
    connections are not counted here: they make room (:mod:`acclock.world.service.patience`).
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
