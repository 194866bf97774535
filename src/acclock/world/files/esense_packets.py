"""Packets of the eSense earbud: bytes to counts of its accelerometer."""

import struct
from dataclasses import dataclass

_PACKET = struct.Struct(">BBBB6h")
_HEAD, _DATA_SIZE = 0x55, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """One sample: a number that counts to 255 and begins again, and acceleration in counts."""

    index: int
    acceleration: tuple[int, int, int]


def decode(data: bytes) -> Packet | None:
    """Decode a packet of the sensor; nothing when it is not one or was damaged on the way.

    >>> decode(bytes.fromhex("5507ac0c 0000 0000 0000 0000 0080 2000"))
    Packet(index=7, acceleration=(0, 128, 8192))
    """
    if len(data) != _PACKET.size:
        return None
    head, index, checksum, size, *values = _PACKET.unpack(data)
    if (head, size, checksum) != (_HEAD, _DATA_SIZE, sum(data[3:]) % 256):
        return None
    return Packet(index=index, acceleration=(values[3], values[4], values[5]))
