"""Logs of the eSense earbud: tables of its events, or its packets as hexadecimal text."""

import re

import numpy as np

from acclock.acquisition.clock import nominal_rate
from acclock.acquisition.units import median_length
from acclock.errors import SignalError, UnreadableError
from acclock.recordings.formats.tabular import guess_tick
from acclock.recordings.packets import ESensePacket, decode_esense
from acclock.recordings.raw import About, Raw, moment
from acclock.recordings.tables import Columns, Table, find_axes, find_time, seconds_per_tick
from acclock.recordings.trees import TreeFile
from acclock.values import FloatArray

FORMAT = "eSense text"
_PACKET_LINE = re.compile(
    rb"(?:([0-9.]+)[\s,;]+)?((?:55)(?:[\s:-]?[0-9a-f]{2}){15})", re.IGNORECASE
)
_COUNTS_PER_G = (16384, 8192, 4096, 2048)
_INDEX_NAMES = ("packetindex", "packet_index", "packet index", "packet")


def is_esense_table(names: tuple[str, ...]) -> bool:
    """Whether a table numbers its packets, as the library of eSense does."""
    return any(name.lower() in _INDEX_NAMES for name in names)


def is_esense_packets(data: bytes) -> bool:
    """Whether the first line is a packet in hexadecimal text, perhaps after a time stamp."""
    return _PACKET_LINE.fullmatch(data[:200].lstrip().split(b"\n")[0].strip()) is not None


def parse_table(item: TreeFile, table: Table, columns: Columns) -> Raw:
    """Read a table of events. Time is that of the phone, when the radio delivered."""
    index_name = next(name for name in table.names if name.lower() in _INDEX_NAMES)
    time = find_time(table, columns)
    wanted = [index_name, *find_axes(table, columns), *([time] if time else [])]
    indices, x, y, z, *ticks = table.numbers(*wanted)
    arrivals_s = None
    if ticks:
        tick_s = columns.seconds_per_tick or seconds_per_tick(time or "") or guess_tick(ticks[0])
        arrivals_s = ticks[0] * tick_s
    return _assemble(item, indices, np.stack([x, y, z]), arrivals_s, columns)


def parse_packets(item: TreeFile, data: bytes, columns: Columns) -> Raw:
    """Read lines of hexadecimal packets; a damaged one counts as lost."""
    lines = [_PACKET_LINE.fullmatch(line.strip()) for line in data.split(b"\n") if line.strip()]
    found: list[tuple[bytes, ESensePacket]] = []
    for line in lines:
        packet = (
            decode_esense(bytes.fromhex(re.sub(r"[\s:-]", "", line[2].decode()))) if line else None
        )
        if line and packet:
            found.append((line[1] or b"nan", packet))
    if not found:
        raise UnreadableError("no packet in it has the right checksum")
    ticks = np.array([float(tick) for tick, _ in found])
    stamped = not np.isnan(ticks).any()
    return _assemble(
        item,
        np.array([packet.index for _, packet in found], dtype=np.float64),
        np.array([packet.acceleration for _, packet in found], dtype=np.float64).T,
        ticks * guess_tick(ticks) if stamped else None,
        columns,
    )


def _assemble(
    item: TreeFile,
    indices: FloatArray,
    counts: FloatArray,
    arrivals_s: FloatArray | None,
    columns: Columns,
) -> Raw:
    rate_hz = columns.sampled_hz or _measure(indices, arrivals_s)
    slots = _count_slots(indices, arrivals_s, rate_hz)
    samples, note = _scale(counts)
    return Raw(
        format=FORMAT,
        stamps_s=slots / rate_hz,
        samples=samples,
        unit="g",
        native_rate_hz=rate_hz,
        about=About(
            session=item.stem,
            device="eSense",
            ear="left",  # the sensor sits in the left earbud
            start=None if arrivals_s is None else moment(float(arrivals_s[0])),
        ),
        notes=("time is counted from the packets' numbers", *note),
    )


def _measure(indices: FloatArray, arrivals_s: FloatArray | None) -> float:
    if arrivals_s is None:
        raise SignalError("eSense has no clock and no stamps are in it; say the rate it sampled at")
    span_s = float(arrivals_s[-1] - arrivals_s[0])
    if not span_s > 0:
        raise SignalError("the time stamps do not rise; say the rate it sampled at")
    # it is told a rate and has no clock: what the phone's bunched arrivals say is less sure
    return nominal_rate(float((np.diff(indices) % 256).sum()) / span_s)


def _count_slots(indices: FloatArray, arrivals_s: FloatArray | None, rate_hz: float) -> FloatArray:
    """Count the samples on end; once 256 packets are lost, the next number looks the same again."""
    steps = np.diff(indices) % 256
    if arrivals_s is not None:
        unseen = np.diff(arrivals_s) * rate_hz - steps
        steps = steps + 256 * np.maximum(np.rint(unseen / 256), 0)
    return np.concatenate(([0.0], np.cumsum(steps)))


def _scale(counts: FloatArray) -> tuple[FloatArray, tuple[str, ...]]:
    per_g = infer_counts_per_g(counts)
    if per_g == 1:
        return counts, ()
    return counts / per_g, (f"values near {per_g} at rest: that many counts taken as one g",)


def infer_counts_per_g(counts: FloatArray) -> int:
    """Tell by the length of gravity which range the sensor was set to; 1 when it is g already."""
    length = median_length(counts)
    for per_g in (1, *_COUNTS_PER_G):
        if abs(length / per_g - 1.0) <= 0.2:
            return per_g
    raise SignalError(
        f"the unit cannot be told: the values are typically {length:.3g} long, and gravity would "
        f"make them 1 (g) or {', '.join(map(str, _COUNTS_PER_G))} (counts)"
    )
