"""OpenEarable 2 live: its commands, and its packets as chunks."""

from collections.abc import Iterable
from typing import Literal

from acclock.live.chunks import Break, Chunk
from acclock.recordings import packets
from acclock.sources.source import Faults

Sensor = Literal["bone", "imu"]

SERVICE = "34c2e3bb-34aa-11eb-adc1-0242ac120002"
DATA = "34c2e3bc-34aa-11eb-adc1-0242ac120002"
CONFIG = "34c2e3be-34aa-11eb-adc1-0242ac120002"

SENSORS: dict[str, Sensor] = {"bone": "bone", "imu": "imu"}
_NUMBERS: dict[Sensor, int] = {"bone": packets.BONE_CONDUCTION, "imu": packets.IMU}
_AT_100_HZ: dict[Sensor, bytes] = {"bone": bytes([7, 3, 1]), "imu": bytes([0, 2, 1])}
"""Sensor, which of its rates, and 1 for over the air."""
_LARGEST_PERIOD_US = 100_000
_LATEST_US = 2**53


class OpenEarable:
    """One connection to an OpenEarable 2: the bone-conduction accelerometer, or the IMU."""

    rate_hz = 100.0
    notifies = DATA

    def __init__(self, sensor: Sensor = "bone") -> None:
        self.name = f"OpenEarable 2, {sensor}"
        self.commands = ((CONFIG, _AT_100_HZ[sensor]),)
        self._number = _NUMBERS[sensor]
        self._held: packets.OpenEarablePacket | None = None
        self._lost = 0

    def read(self, data: bytes, received_s: float, faults: Faults) -> Iterable[Chunk | Break]:
        """Give the packet before, now that it is known when it ended.

        The period that a packet names and the time to the next one differ by a hair, so a
        packet's samples are laid out when the next has come.
        """
        if not is_whole(data):
            faults["truncated packet"] += 1  # an MTU below 51 does this to every one
            return self._give_up(received_s)
        if data[0] != self._number:
            return []
        packet = _decode(data)
        if packet is None:
            faults["damaged packet"] += 1
            return self._give_up(received_s)
        before = self._held
        if before is not None and packet.time_us == before.time_us:
            faults["repeated packet"] += 1
            return []
        self._held = packet
        if before is None or packet.time_us < before.time_us:  # set back: it has started again
            return []
        return [self._lay_out(before, packet, received_s, faults)]

    def _give_up(self, received_s: float) -> Iterable[Break]:
        self._held = None
        return [Break(reason="garbage", received_s=received_s)]

    def _lay_out(
        self,
        before: packets.OpenEarablePacket,
        after: packets.OpenEarablePacket,
        received_s: float,
        faults: Faults,
    ) -> Chunk:
        count = before.samples.shape[1]
        stamps_s = packets.stamp([before, after])[:count]
        lost, self._lost = self._lost, self._count_lost(before, after)
        faults["lost packet"] += round(self._lost / count)
        return Chunk(samples=before.samples, stamps_s=stamps_s, received_s=received_s, lost=lost)

    def _count_lost(
        self, before: packets.OpenEarablePacket, after: packets.OpenEarablePacket
    ) -> int:
        """Count the samples that time has room for between two packets."""
        period_us = before.period_us or 1e6 / self.rate_hz
        room = round((after.time_us - before.time_us) / period_us)
        return max(0, room - int(before.samples.shape[1]))


def is_whole(data: bytes) -> bool:
    """Say whether as many bytes came as the packet's header promises, or more.

    >>> is_whole(bytes([7, 6]) + bytes(8 + 6)), is_whole(bytes([7, 38]) + bytes(8 + 10))
    (True, False)
    """
    size = packets.HEADER.size
    return len(data) >= size and len(data) >= size + data[1]


def _decode(data: bytes) -> packets.OpenEarablePacket | None:
    """Decode a whole packet; nothing when its size or its times are not those of one."""
    sensor, size, time_us = packets.HEADER.unpack_from(data)
    payload = data[packets.HEADER.size :]
    packet = packets.decode_open_earable(sensor, time_us, payload) if len(payload) == size else None
    if packet is None or packet.period_us > _LARGEST_PERIOD_US or time_us > _LATEST_US:
        return None
    return packet
