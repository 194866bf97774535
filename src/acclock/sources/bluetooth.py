"""Earphones over Bluetooth LE: a radio that carries bytes, and an earable."""

import time
from collections.abc import Callable, Iterable
from typing import Protocol

from acclock.live.chunks import Break, Chunk
from acclock.sources.relay import STALL_S, Backoff, RelayInbox, keep_connected, relay
from acclock.sources.source import Faults, Stream, break_off

_BASE = "-0000-1000-8000-00805f9b34fb"


class RadioError(Exception):
    """The link could not be made or was lost. It never leaves the source that uses the radio."""


class Radio(Protocol):
    """What a source needs of Bluetooth; every method may raise :class:`RadioError`."""

    async def connect(self) -> None: ...

    async def write(self, characteristic: str, data: bytes) -> None: ...

    async def subscribe(self, characteristic: str, heard: Callable[[bytes], None]) -> None:
        """Call ``heard`` with every notification from now on."""
        ...

    async def disconnected(self) -> None:
        """Return when the link is gone."""
        ...

    async def close(self) -> None:
        """Let go of the link, if there is one; nothing is raised."""
        ...


def expand(short: int) -> str:
    """Give the whole UUID of a short one.

    >>> expand(0xff08)
    '0000ff08-0000-1000-8000-00805f9b34fb'
    """
    return f"{short:08x}{_BASE}"


class Earable(Protocol):
    """What is known of one kind of earphone: how to start it, and what its bytes mean.

    It follows one connection; the next has an earable of its own.
    """

    @property
    def name(self) -> str: ...

    @property
    def rate_hz(self) -> float: ...

    @property
    def notifies(self) -> str:
        """The characteristic on which samples come."""
        ...

    @property
    def commands(self) -> tuple[tuple[str, bytes], ...]:
        """What to write, and to which characteristic, so that samples begin to come."""
        ...

    def read(self, data: bytes, received_s: float, faults: Faults) -> Iterable[Chunk | Break]:
        """Give what a notification holds; a bad one is counted and is a break."""
        ...


class BluetoothSource:
    """An earphone that is connected to, told to send, and connected to again when it is lost."""

    def __init__(
        self,
        earable: Callable[[], Earable],
        radio: Callable[[], Radio],
        *,
        stall_s: float = STALL_S,
        backoff: Backoff | None = None,
    ) -> None:
        known = earable()
        self.name = known.name
        self.rate_hz = known.rate_hz
        self.faults: Faults = Faults()
        self._earable = earable
        self._radio = radio
        self._stall_s = stall_s
        self._backoff = backoff or Backoff()

    def now_s(self) -> float:
        return time.monotonic()

    def stream(self) -> Stream:
        return relay(self._feed, faults=self.faults, stall_s=self._stall_s)

    async def _feed(self, inbox: RelayInbox) -> None:
        async def listen() -> None:
            radio = self._radio()
            try:
                await radio.connect()
                await self._start(radio, inbox)
                await radio.disconnected()
                # at once: closing the radio may take its time
                inbox.put([break_off("disconnect")])
            finally:
                await radio.close()

        await keep_connected(
            listen, inbox, failures=(RadioError,), faults=self.faults, backoff=self._backoff
        )

    async def _start(self, radio: Radio, inbox: RelayInbox) -> None:
        earable = self._earable()

        def hear(data: bytes) -> None:
            inbox.put(earable.read(data, time.monotonic(), self.faults))

        await radio.subscribe(earable.notifies, hear)
        for characteristic, command in earable.commands:
            await radio.write(characteristic, command)


def find_bleak(address: str) -> Callable[[], Radio]:
    """Give what makes a radio to an address, or say that bleak is not installed."""
    from acclock.sources.bleak_radio import BleakRadio  # half a second, and an extra

    return lambda: BleakRadio(address)
