"""Packets of earphones, bytes to samples, as they come over the radio and lie in files."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from acclock.values import STANDARD_GRAVITY, FloatArray

_PACKET = struct.Struct(">BBBB6h")
_HEAD, _DATA_SIZE = 0x55, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ESensePacket:
    """One sample: a number that counts to 255 and begins again, and acceleration in counts."""

    index: int
    acceleration: tuple[int, int, int]


def decode_esense(data: bytes) -> ESensePacket | None:
    """Decode a packet of the sensor; nothing when it is not one or was damaged on the way.

    >>> decode_esense(bytes.fromhex("5507ac0c 0000 0000 0000 0000 0080 2000"))
    ESensePacket(index=7, acceleration=(0, 128, 8192))
    """
    if len(data) != _PACKET.size:
        return None
    head, index, checksum, size, *values = _PACKET.unpack(data)
    if (head, size, checksum) != (_HEAD, _DATA_SIZE, sum(data[3:]) % 256):
        return None
    return ESensePacket(index=index, acceleration=(values[3], values[4], values[5]))


HEADER = struct.Struct("<BBQ")
"""Sensor, size of the payload, time in µs."""
IMU = 0
BONE_CONDUCTION = 7
_COUNTS_PER_G = 16384.0
_BONE_SAMPLE = np.dtype(("<i2", 3))
_IMU_SAMPLE = np.dtype(("<f4", 9))
_LAYOUTS = {BONE_CONDUCTION: _BONE_SAMPLE, IMU: _IMU_SAMPLE}
_LARGEST_PAYLOAD = 38


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpenEarablePacket:
    """The samples of one packet: acceleration in m/s², one row per axis."""

    sensor: int
    time_us: int
    """When the first sample was taken."""
    period_us: int
    """From one sample to the next; 0 in a packet of one."""
    samples: FloatArray


def decode_open_earable(sensor: int, time_us: int, payload: bytes) -> OpenEarablePacket | None:
    """Decode a packet of an accelerometer; nothing for other sensors or a payload that is not one.

    A payload is one sample, or several and then their period in µs.
    """
    layout = _LAYOUTS.get(sensor)
    if layout is None or not fits(sensor, len(payload)):
        return None
    count, rest = divmod(len(payload), layout.itemsize)
    period_us = int.from_bytes(payload[-2:], "little") if rest else 0
    values = np.frombuffer(payload, layout, count=count).astype(np.float64)
    scale = STANDARD_GRAVITY / _COUNTS_PER_G if sensor == BONE_CONDUCTION else 1.0
    return OpenEarablePacket(
        sensor=sensor, time_us=time_us, period_us=period_us, samples=values[:, :3].T * scale
    )


def fits(sensor: int, size: int) -> bool:
    """Whether a payload of an accelerometer can have this size; those of others can have any."""
    layout = _LAYOUTS.get(sensor)
    if layout is None:
        return size > 0
    several = layout.itemsize < size <= _LARGEST_PAYLOAD and (size - 2) % layout.itemsize == 0
    return size == layout.itemsize or several


def stamp(chunks: Iterable[OpenEarablePacket]) -> FloatArray:
    """Give the time of every sample in s, from chunks of one sensor in the order of time.

    The first sample of a chunk is taken at the time of the chunk. The others follow evenly up to
    the next chunk when it comes as expected, otherwise at the period that the chunk names: the
    two clocks differ by a hair, and time must not run backwards where chunks meet.
    """
    chunks = list(chunks)
    begins = np.array([chunk.time_us for chunk in chunks], dtype=np.float64)
    counts = np.array([chunk.samples.shape[1] for chunk in chunks], dtype=np.intp)
    periods = np.array([chunk.period_us for chunk in chunks], dtype=np.float64)
    if begins.size:
        actual = np.append(np.diff(begins), 0.0) / np.maximum(counts, 1)
        expected = np.abs(actual - periods) <= 0.2 * periods
        periods = np.where(expected, actual, periods)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.asarray((np.repeat(begins, counts) + within * np.repeat(periods, counts)) * 1e-6)
