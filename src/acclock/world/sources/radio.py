"""A link to one Bluetooth LE device, whichever library makes it."""

from collections.abc import Callable
from typing import Protocol

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
