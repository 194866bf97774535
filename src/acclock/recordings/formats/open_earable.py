"""Files that OpenEarable 2 writes on its memory card (``.oe``)."""

import struct
from collections.abc import Iterator

import numpy as np

from acclock.errors import UnreadableError
from acclock.recordings.packets import (
    BONE_CONDUCTION,
    HEADER,
    IMU,
    OpenEarablePacket,
    decode_open_earable,
    fits,
    stamp,
)
from acclock.recordings.raw import About, Raw, moment
from acclock.recordings.trees import TreeFile
from acclock.values import Ear

FORMAT = "OpenEarable 2 .oe"
_OLD_HEADER = struct.Struct("<HQ")
_NEW_HEADER = struct.Struct("<HQIIQB")
_USUAL_SENSORS = frozenset({0, 1, 2, 4, 6, 7})
_LONGEST_PAUSE_US = 3_600_000_000
_SIDES: dict[int, Ear] = {0: "left", 1: "right"}


def is_open_earable(data: bytes) -> bool:
    """Whether a file begins as OpenEarable 2 begins one: a header that agrees with itself."""
    start = _body(data)
    return start is not None and _plausible(data, start, _sensors(data), None)


def parse(item: TreeFile, data: bytes) -> Raw:
    """Read the bone-conduction accelerometer, or the IMU where there is none."""
    start = _body(data) or 0
    chunks: dict[int, list[OpenEarablePacket]] = {BONE_CONDUCTION: [], IMU: []}
    skipped = 0
    for chunk, lost in _walk(data, start):
        skipped += lost
        if chunk is not None:
            chunks[chunk.sensor].append(chunk)
    sensor = BONE_CONDUCTION if chunks[BONE_CONDUCTION] else IMU
    if not chunks[sensor]:
        raise UnreadableError("no packet of an accelerometer is in it")
    if skipped > len(data) // 2:
        raise UnreadableError("more than half of it is not packets: it is damaged")
    whole = _drop_strays(chunks[sensor])
    stamps_s = stamp(whole)
    which = "bone-conduction accelerometer" if sensor == BONE_CONDUCTION else "IMU"
    damage = (f"{skipped} bytes that are no packets are skipped",) if skipped else ()
    return Raw(
        format=FORMAT,
        stamps_s=stamps_s,
        samples=np.concatenate([chunk.samples for chunk in whole], axis=1),
        unit="m/s²",
        about=About(
            session=item.stem,
            device=f"OpenEarable 2, {which}",
            ear=_side(data),
            start=moment(float(stamps_s[0])),
        ),
        notes=damage,
    )


def _body(data: bytes) -> int | None:
    """Find where the packets begin, or nothing when the header is not one."""
    if len(data) < _OLD_HEADER.size:
        return None
    version = int.from_bytes(data[:2], "little")
    if version in (1, 2):
        return _OLD_HEADER.size
    if version != 3 or len(data) < _NEW_HEADER.size:
        return None
    _, _, header_size, scheme_size, _, _ = _NEW_HEADER.unpack_from(data)
    agrees = header_size == _NEW_HEADER.size + scheme_size <= len(data)
    return header_size if agrees else None


def _sensors(data: bytes) -> frozenset[int]:
    """List the sensors that the file speaks of; since version 3 it begins its scheme with them."""
    if int.from_bytes(data[:2], "little") != 3:
        return _USUAL_SENSORS
    begin = _NEW_HEADER.size
    return (
        frozenset(data[begin + 1 : begin + 1 + data[begin]]) if len(data) > begin else frozenset()
    )


def _side(data: bytes) -> Ear | None:
    if int.from_bytes(data[:2], "little") != 3:
        return None
    return _SIDES.get(_NEW_HEADER.unpack_from(data)[-1])


def _walk(data: bytes, at: int) -> Iterator[tuple[OpenEarablePacket | None, int]]:
    """Go from packet to packet; where one is damaged, go on at the next likely one."""
    sensors = _sensors(data)
    latest: int | None = None
    lost = 0
    while at + HEADER.size <= len(data):
        if not _plausible(data, at, sensors, latest):
            at, lost = at + 1, lost + 1
            continue
        sensor, size, time_us = HEADER.unpack_from(data, at)
        at += HEADER.size + size
        latest = time_us
        yield decode_open_earable(sensor, time_us, data[at - size : at]), lost
        lost = 0


def _drop_strays(chunks: list[OpenEarablePacket]) -> list[OpenEarablePacket]:
    """Leave out chunks whose period is not the usual one: a byte of it was damaged."""
    usual = sorted(chunk.period_us for chunk in chunks)[len(chunks) // 2]
    return [chunk for chunk in chunks if abs(chunk.period_us - usual) <= 0.2 * usual]


def _plausible(data: bytes, at: int, sensors: frozenset[int], latest: int | None) -> bool:
    if at + HEADER.size > len(data):
        return False
    sensor, size, time_us = HEADER.unpack_from(data, at)
    whole = fits(sensor, size) and size <= len(data) - at - HEADER.size
    near = latest is None or abs(time_us - latest) < _LONGEST_PAUSE_US
    return sensor in sensors and whole and near
