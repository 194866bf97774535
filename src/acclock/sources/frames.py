"""Frames in which samples travel over a network: bytes, or JSON for ease.

A binary frame, little-endian, without padding::

    4s   "ACLK"
    u8   version, 1
    u8   encoding of the values: 0 int16, 1 float32
    u16  number of samples, 1 to 1024
    u32  sequence number: one more than the frame before, after 2**32 - 1 comes 0
    u64  time of the first sample in µs of the device's clock
    u32  µs from one sample to the next, or 0 when every sample has its own time
    f32  m/s² per unit of the values
    u32  per sample, only where the period is 0: µs since the first sample
    x y z per sample, in the encoding

The same as JSON: ``{"sequence": 7, "time_us": 1000000, "period_us": 10000,
"samples": [[x, y, z], ...]}`` in m/s², or ``"offsets_us": [0, ...]`` instead of ``period_us``.
"""

import json
import math
import struct
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from acclock.errors import AccLockError
from acclock.values import FloatArray

MAGIC = b"ACLK"
VERSION = 1
MOST_SAMPLES = 1024
LARGEST_BYTES = 262144
"""The longest message that is read: a second of all sensors of a phone is half of it."""
_HEADER = struct.Struct("<4sBBHIQIf")
_ENCODINGS: dict[int, np.dtype[np.int16] | np.dtype[np.float32]] = {
    0: np.dtype("<i2"),
    1: np.dtype("<f4"),
}
_INT16, _FLOAT32 = 0, 1
_LATEST_US = 2**53
"""Up to here a double holds every µs; it is the year 2255."""
_LARGEST_PERIOD_US = 2**32 - 1


class FrameError(AccLockError):
    """What came is not a frame."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frame:
    """Some samples with their times, and a number by which loss and repeats are noticed."""

    sequence: int
    stamps_s: FloatArray
    samples: FloatArray
    """m/s², ``(3, n)``; may hold what is not a number where the sender sent that."""


def encode(
    samples: FloatArray, *, sequence: int, time_us: int, period_us: int, scale: float | None = None
) -> bytes:
    """Write evenly spaced samples in m/s² as a frame: float32, or int16 when a scale is given.

    >>> frame = decode(encode(np.ones((3, 2)), sequence=7, time_us=1_000_000, period_us=10_000))
    >>> frame.sequence, frame.stamps_s.tolist(), frame.samples.tolist()
    (7, [1.0, 1.01], [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    """
    count = samples.shape[1]
    if not 1 <= count <= MOST_SAMPLES or not 0 < period_us <= _LARGEST_PERIOD_US:
        raise FrameError(
            f"a frame has 1 to {MOST_SAMPLES} samples and a period, not {count} and {period_us}"
        )
    encoding = _FLOAT32 if scale is None else _INT16
    values = samples.T if scale is None else np.rint(samples.T / scale).clip(-32768, 32767)
    header = _HEADER.pack(
        MAGIC, VERSION, encoding, count, sequence % 2**32, time_us, period_us, scale or 1.0
    )
    return header + bytes(values.astype(_ENCODINGS[encoding]).tobytes())


def decode(data: bytes | str) -> Frame:
    """Read a frame, binary or JSON; anything else is a :class:`FrameError`."""
    if isinstance(data, bytes) and data.startswith(MAGIC):
        return _decode_binary(data)
    return read_frame(parse_json(data))


def parse_json(data: bytes | str) -> object:
    """Parse strict JSON of bounded length."""
    if len(data) > LARGEST_BYTES:
        raise FrameError(f"a message of {len(data)} bytes is longer than {LARGEST_BYTES}")
    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise FrameError("it is neither a frame nor JSON") from None


def read_frame(message: object) -> Frame:
    """Read a frame out of parsed JSON."""
    if not isinstance(message, dict):
        raise FrameError("a frame in JSON is an object")
    samples = message.get("samples")
    if not isinstance(samples, list) or not 1 <= len(samples) <= MOST_SAMPLES:
        raise FrameError(f"a frame has a list of 1 to {MOST_SAMPLES} samples")
    values = np.array([_read_vector(sample) for sample in samples]).T
    time_us = _read_count(message.get("time_us"), "time_us", _LATEST_US)
    if "offsets_us" in message:
        offsets = message["offsets_us"]
        if not isinstance(offsets, list) or len(offsets) != len(samples):
            raise FrameError("offsets_us has one number per sample")
        steps = [_read_count(offset, "an offset", _LARGEST_PERIOD_US) for offset in offsets]
    else:
        period_us = _read_count(message.get("period_us"), "period_us", _LARGEST_PERIOD_US)
        steps = [period_us * place for place in range(len(samples))]
    sequence = _read_count(message.get("sequence"), "sequence", 2**32 - 1)
    stamps_s = (time_us + np.array(steps, dtype=np.float64)) * 1e-6
    return Frame(sequence=sequence, stamps_s=stamps_s, samples=values)


def _decode_binary(data: bytes) -> Frame:
    if len(data) < _HEADER.size:
        raise FrameError(f"a frame begins with {_HEADER.size} bytes; these are {len(data)}")
    _, version, encoding, count, sequence, time_us, period_us, scale = _HEADER.unpack_from(data)
    values = _ENCODINGS.get(encoding)
    if version != VERSION or values is None:
        raise FrameError(f"version {version} with encoding {encoding} is not known")
    if not 1 <= count <= MOST_SAMPLES or not math.isfinite(scale) or scale <= 0:
        raise FrameError(f"a frame has 1 to {MOST_SAMPLES} samples and a positive scale")
    stamped = 0 if period_us else 4 * count
    if len(data) != _HEADER.size + stamped + 3 * count * values.itemsize or time_us > _LATEST_US:
        raise FrameError(f"{len(data)} bytes are not {count} samples of this encoding and time")
    if stamped:
        steps = np.frombuffer(data, "<u4", count, _HEADER.size).astype(np.float64)
    else:
        steps = _list_steps(count, period_us)
    rows = np.frombuffer(data, values, 3 * count, _HEADER.size + stamped).reshape(count, 3)
    samples = np.empty((3, count))
    with np.errstate(invalid="ignore", over="ignore"):  # a sample may be any bytes, NaN included
        np.multiply(rows.T, scale, out=samples, dtype=np.float64)
    return Frame(sequence=sequence, stamps_s=(time_us + steps) * 1e-6, samples=samples)


@lru_cache(maxsize=64)  # a device sends frames of one kind
def _list_steps(count: int, period_us: int) -> FloatArray:
    return np.arange(count, dtype=np.float64) * period_us


def _read_vector(sample: object) -> list[float]:
    if not isinstance(sample, list) or len(sample) != 3:
        raise FrameError("a sample is three numbers")
    return [read_number(value) for value in sample]


def read_number(value: object) -> float:
    """Give a JSON number as a float; others, and those too large for one, are refused."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
        raise FrameError("a value is a number")
    return float(value)


def _read_count(value: object, name: str, largest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
        raise FrameError(f"{name} is a whole number from 0 to {largest}")
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(name)
