"""An OpenEarable 2 that does not exist: a real GATT server on a link inside of this process."""

import asyncio
import struct
from collections.abc import Callable

from bumble.att import Attribute
from bumble.controller import Controller
from bumble.core import UUID, ProtocolError
from bumble.device import Connection, Device, Peer
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.gatt_client import CharacteristicProxy
from bumble.hci import Address
from bumble.host import Host
from bumble.link import LocalLink
from bumble.transport.common import AsyncPipeSink

from acclock.sources.bluetooth import RadioError
from acclock.sources.open_earable import CONFIG, DATA, SERVICE

EARABLE, CENTRAL = "F0:F1:F2:F3:F4:F5", "E0:E1:E2:E3:E4:E5"


def make_device(link: LocalLink, address: str) -> Device:
    controller = Controller(address, link=link, public_address=address)
    return Device(
        name="OpenEarable-0000",
        address=Address(address),
        host=Host(controller, AsyncPipeSink(controller)),
    )


class VirtualOpenEarable:
    """The sensor service: data that is notified, and a configuration that is written."""

    def __init__(self, link: LocalLink, *, largest_mtu: int = 517) -> None:
        self.commands: list[bytes] = []
        self.device = make_device(link, EARABLE)
        self.device.gatt_server.max_mtu = largest_mtu
        self._data = Characteristic(
            DATA, Characteristic.Properties.NOTIFY, Attribute.Permissions.READABLE, b""
        )
        config: Characteristic[bytes] = Characteristic(
            CONFIG,
            Characteristic.Properties.WRITE,
            Attribute.Permissions.WRITEABLE,
            CharacteristicValue(write=self._configure),
        )
        self.device.add_service(Service(SERVICE, [self._data, config]))
        self.configured = asyncio.Event()

    async def start(self) -> None:
        await self.device.power_on()
        await self.device.start_advertising(auto_restart=True, advertising_interval_min=1.0)

    async def notify(self, packet: bytes) -> None:
        await self.device.notify_subscribers(self._data, packet)

    async def hang_up(self) -> None:
        self.configured.clear()
        for connection in list(self.device.connections.values()):
            await connection.disconnect()

    def _configure(self, _: Connection, value: bytes) -> None:
        self.commands.append(bytes(value))
        self.configured.set()


def bone_packet(
    time_us: int, samples: list[tuple[int, int, int]], period_us: int = 10_000
) -> bytes:
    payload = b"".join(struct.pack("<3h", *sample) for sample in samples)
    payload += struct.pack("<H", period_us)
    return struct.pack("<BBQ", 7, len(payload), time_us) + payload


class BumbleRadio:
    """What :class:`acclock.sources.bluetooth.Radio` asks for, through bumble's central."""

    def __init__(self, central: Device, *, mtu: int = 247) -> None:
        self._central = central
        self._mtu = mtu
        self._gone = asyncio.Event()
        self._connection: Connection | None = None
        self._peer: Peer | None = None

    async def connect(self) -> None:
        try:
            self._connection = await self._central.connect(EARABLE, timeout=5.0)
            self._connection.on("disconnection", lambda _: self._gone.set())
            self._peer = Peer(self._connection)
            await self._peer.request_mtu(self._mtu)
            await self._peer.discover_all()
        except (ProtocolError, TimeoutError, asyncio.CancelledError) as error:
            raise RadioError(str(error)) from error

    async def write(self, characteristic: str, data: bytes) -> None:
        await self._find(characteristic).write_value(data, with_response=True)

    async def subscribe(self, characteristic: str, heard: Callable[[bytes], None]) -> None:
        await self._find(characteristic).subscribe(lambda value: heard(bytes(value)))

    async def disconnected(self) -> None:
        await self._gone.wait()

    async def close(self) -> None:
        if self._connection is not None and not self._gone.is_set():
            await self._connection.disconnect()

    def _find(self, characteristic: str) -> CharacteristicProxy[bytes]:
        if self._peer is None:
            raise RadioError("not connected")
        found: list[CharacteristicProxy[bytes]] = self._peer.get_characteristics_by_uuid(
            UUID(characteristic)
        )
        if not found:
            raise RadioError(f"there is no characteristic {characteristic}")
        return found[0]


async def make_pair(*, largest_mtu: int = 517) -> tuple[VirtualOpenEarable, Device]:
    """Give an earable that advertises and a central that can reach it."""
    link = LocalLink()
    earable = VirtualOpenEarable(link, largest_mtu=largest_mtu)
    central = make_device(link, CENTRAL)
    await central.power_on()
    await earable.start()
    return earable, central
