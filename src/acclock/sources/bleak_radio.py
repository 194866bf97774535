"""Bluetooth LE through bleak: BlueZ, Core Bluetooth or WinRT, whatever the machine has."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from acclock.errors import MissingExtraError
from acclock.sources.bluetooth import RadioError

try:
    from bleak import BleakClient
    from bleak.backends.characteristic import BleakGATTCharacteristic
    from bleak.exc import BleakError
except ImportError:
    raise MissingExtraError(package="bleak", extra="ble") from None

# BlueZ that is not there shows itself as any of these
_FAILURES = (BleakError, OSError, TimeoutError, EOFError)


class BleakRadio:
    """A link to the device at an address."""

    def __init__(self, address: str, *, patience_s: float = 20.0) -> None:
        self._gone = asyncio.Event()
        self._client = BleakClient(
            address, disconnected_callback=lambda _: self._gone.set(), timeout=patience_s
        )

    async def connect(self) -> None:
        try:
            await self._client.connect()
        except _FAILURES as error:
            raise RadioError(str(error)) from error

    async def write(self, characteristic: str, data: bytes) -> None:
        try:
            await self._client.write_gatt_char(characteristic, data, response=True)
        except _FAILURES as error:
            raise RadioError(str(error)) from error

    async def subscribe(self, characteristic: str, heard: Callable[[bytes], None]) -> None:
        def hear(_: BleakGATTCharacteristic, data: bytearray) -> None:
            heard(bytes(data))

        try:
            await self._client.start_notify(characteristic, hear)
        except _FAILURES as error:
            raise RadioError(str(error)) from error

    async def disconnected(self) -> None:
        await self._gone.wait()

    async def close(self) -> None:
        with suppress(*_FAILURES):
            await self._client.disconnect()
