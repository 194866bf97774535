"""Samples that come by themselves, from a callback or a connection, handed on in order."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from acclock.errors import ConfigError
from acclock.live.chunks import Break, Chunk
from acclock.sources.source import Faults, Stream, break_off

STALL_S = 2.0
"""A source that was heard and has been silent for this long has stalled."""
_MOST_WAITING = 256
"""Chunks; a listener that is so far behind would decide on what is long past."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How long to wait before connecting again: twice as long each time, up to a limit."""

    first_s: float = 0.5
    longest_s: float = 30.0

    def __post_init__(self) -> None:
        if not 0 < self.first_s <= self.longest_s:
            raise ConfigError(f"a wait of {self.first_s} s cannot grow to {self.longest_s} s")

    def wait_s(self, failures: int) -> float:
        return min(self.longest_s, self.first_s * 2.0 ** min(failures, 30))


class RelayInbox:
    """Pieces that wait to be listened to; too many of them are thrown away, and that is told."""

    def __init__(self, faults: Faults) -> None:
        self._waiting: asyncio.Queue[Chunk | Break] = asyncio.Queue()
        self._faults = faults

    def put(self, pieces: Iterable[Chunk | Break]) -> None:
        for piece in pieces:
            if self._waiting.qsize() >= _MOST_WAITING:
                self._faults["overflow"] += 1
                self._clear()
                self._waiting.put_nowait(break_off("stall"))
            self._waiting.put_nowait(piece)

    async def take(self) -> Chunk | Break:
        return await self._waiting.get()

    def _clear(self) -> None:
        while not self._waiting.empty():
            self._waiting.get_nowait()


async def relay(
    feed: Callable[[RelayInbox], Awaitable[None]], *, faults: Faults, stall_s: float = STALL_S
) -> Stream:
    """Let ``feed`` fill an inbox and hand on what is in it, with a break when it falls silent.

    A row of breaks is one: the first, until samples come again. The feed is cancelled when the
    stream is closed; an error that it could not deal with is raised here.
    """
    inbox = RelayInbox(faults)
    feeding = asyncio.ensure_future(feed(inbox))
    feeding.add_done_callback(lambda _: inbox.put([break_off("end")]))
    broken = True  # nothing was heard yet, so nothing can break off
    try:
        while True:
            piece = await _take(inbox, None if broken else stall_s)
            if piece is None:
                faults["stall"] += 1
                piece = break_off("stall")
            if isinstance(piece, Break) and piece.reason == "end":
                break
            if isinstance(piece, Chunk) or not broken:
                yield piece
            broken = isinstance(piece, Break)
        yield piece
        feeding.result()
    finally:
        feeding.cancel()
        with suppress(asyncio.CancelledError):
            await feeding


async def _take(inbox: RelayInbox, patience_s: float | None) -> Chunk | Break | None:
    try:
        async with asyncio.timeout(patience_s):
            return await inbox.take()
    except TimeoutError:
        return None


async def keep_connected(
    connect: Callable[[], Awaitable[None]],
    inbox: RelayInbox,
    *,
    failures: tuple[type[Exception], ...],
    faults: Faults,
    backoff: Backoff,
) -> None:
    """Connect, and connect again whenever that ends, for ever; each end is a break.

    ``connect`` returns, or raises one of ``failures``, when its connection is lost. A wait that
    a good connection came before is short again.
    """
    loop = asyncio.get_running_loop()
    failed = 0
    while True:
        began_s = loop.time()
        try:
            await connect()
            faults["disconnect"] += 1
        except failures:
            faults["refused connection"] += 1
        inbox.put([break_off("disconnect")])
        lasted = loop.time() - began_s > backoff.longest_s / 3
        failed = 0 if lasted else failed + 1
        await asyncio.sleep(backoff.wait_s(max(0, failed - 1)))


def may_call(path: str, *, token: str | None, authorization: str = "") -> bool:
    """Tell whether a caller brought the token, in the address or as a bearer's.

    >>> may_call("/?token=a", token="a"), may_call("/", token="a"), may_call("/", token=None)
    (True, False, True)
    """
    if token is None:
        return True
    given = parse_qs(urlsplit(path).query).get("token", [""])[0]
    given = given or authorization.removeprefix("Bearer ")
    return hmac.compare_digest(given.encode(), token.encode())


@contextmanager
def saying_where(host: str, port: int) -> Iterator[None]:
    """Turn a port that cannot be had into a sentence."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
