"""Messages from a network: numbered frames, or what the app Sensor Logger pushes."""

from collections.abc import Iterable, Mapping

import numpy as np

from acclock.acquisition.units import METERS_PER_S2
from acclock.live.chunks import Break, Chunk
from acclock.recordings.formats.sensor_logger import infer_unit
from acclock.sources.frames import (
    MAGIC,
    Frame,
    FrameError,
    decode,
    parse_json,
    read_frame,
    read_number,
)
from acclock.sources.source import Faults
from acclock.values import FloatArray


class Numbering:
    """Follows numbers that count up to ``modulus`` and begin again.

    >>> numbering = Numbering(256)
    >>> [numbering.follow(number) for number in (254, 255, 2, 2, 1, 3)]
    [0, 0, 2, None, None, 0]
    """

    def __init__(self, modulus: int) -> None:
        self._modulus = modulus
        self._last: int | None = None

    def follow(self, number: int) -> int | None:
        """Say how many were lost before this one; nothing when it came before or is older."""
        ahead = 1 if self._last is None else (number - self._last) % self._modulus
        if ahead == 0 or ahead > self._modulus // 2:
            return None
        self._last = number
        return ahead - 1

    def repeats(self, number: int) -> bool:
        return number == self._last

    def forget(self) -> None:
        self._last = None


MOST_READINGS = 4096
_MESSAGES = 2**32
_SETTLING_S = 1.0
"""Left out at the beginning of a session, as in files."""
_TELLING_S = 3.0
"""After so much of a session its unit is told, and what was held back is given."""
_LATEST_NS = 2**63

_HEADPHONE = ("accelerationX", "accelerationY", "accelerationZ")
_GRAVITY = ("gravityX", "gravityY", "gravityZ")
_PHONE = ("x", "y", "z")


class Pushes:
    """Follows the messages of one phone: their numbers, their session, and its unit."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._numbering = Numbering(_MESSAGES)
        self.forget()

    def forget(self) -> None:
        """Begin anew, as with another session."""
        self._numbering.forget()
        self._session: object = None
        self._headphones = False
        self._factor: float | None = None
        self._begin_s: float | None = None
        self._held: list[FloatArray] = []

    def read(self, message: Mapping[str, object], received_s: float) -> Iterable[Chunk | Break]:
        """Give the acceleration in a message in m/s²; refuse what Sensor Logger never sends."""
        readings = message["payload"]
        if not isinstance(readings, list) or len(readings) > MOST_READINGS:
            raise FrameError(f"a payload is a list of up to {MOST_READINGS} readings")
        pieces: list[Chunk | Break] = []
        if self._session is not None and message.get("sessionId") != self._session:
            self.forget()
            pieces.append(Break(reason="disconnect", received_s=received_s))
        self._session = message.get("sessionId", "")
        if self._is_old(message.get("messageId")):
            return pieces
        rows = self._choose(readings)
        return pieces + (self._give(rows, received_s) if rows.size else [])

    def _is_old(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        repeated = self._numbering.repeats(number)
        lost = self._numbering.follow(number)
        if lost is None:
            self._faults["repeated frame" if repeated else "late frame"] += 1
        else:
            self._faults["lost frame"] += lost
        return lost is None

    def _choose(self, readings: list[object]) -> FloatArray:
        """Give time, acceleration and gravity of each reading, of headphones if there are any."""
        named: dict[str, list[list[float]]] = {"headphone": [], "accelerometer": []}
        for reading in readings:
            if not isinstance(reading, dict):
                raise FrameError("a reading is an object")
            name = str(reading.get("name", "")).lower()
            if name in named:
                named[name].append(_read(reading, headphone=name == "headphone"))
        if named["headphone"] and not self._headphones:
            self._headphones, self._factor, self._held = True, None, []
        rows = named["headphone" if self._headphones else "accelerometer"]
        return np.array(rows, dtype=np.float64).T

    def _give(self, rows: FloatArray, received_s: float) -> list[Chunk | Break]:
        rows = rows[:, np.argsort(rows[0], kind="stable")]
        if not self._headphones:
            self._factor = 1.0  # the app gives the phone's own sensor in m/s²
        if self._factor is None:
            rows = self._settle(rows)
        if self._factor is None or not rows.size:
            return []
        samples = rows[1:4] * self._factor
        return [Chunk(samples=samples, stamps_s=rows[0], received_s=received_s)]

    def _settle(self, rows: FloatArray) -> FloatArray:
        """Hold readings back until their unit can be told, and then give them all."""
        if self._begin_s is None:
            self._begin_s = float(rows[0, 0])
        self._held.append(rows[:, rows[0] >= self._begin_s + _SETTLING_S])
        held = np.concatenate(self._held, axis=1)
        if held.shape[1] > MOST_READINGS:
            self._begin_s, self._held = None, []
            raise FrameError("the times of the readings do not go on")
        if rows[0, -1] < self._begin_s + _TELLING_S:
            return held
        self._begin_s, self._held = None, []
        if not held.size:
            return held
        unit, _ = infer_unit(held[4:], held[1:4], held[0])
        if unit is None:
            raise FrameError("the unit cannot be told: gravity beside it is neither 1 nor 9.8 long")
        self._factor = METERS_PER_S2[unit]
        return held


def _read(reading: Mapping[str, object], *, headphone: bool) -> list[float]:
    """Read time in s and six numbers; versions of the app differ in where the values stand."""
    values = reading.get("values", reading)
    time_ns = reading.get("time")
    if isinstance(time_ns, str) and time_ns.isdecimal() and len(time_ns) < 20:
        time_ns = int(time_ns)
    if not isinstance(values, dict) or not isinstance(time_ns, int | float):
        raise FrameError("a reading has a time and values")
    if not 0 <= time_ns < _LATEST_NS:
        raise FrameError("the time of a reading is in nanoseconds since 1970")
    names = (*_HEADPHONE, *_GRAVITY) if headphone else _PHONE
    numbers = [read_number(values.get(name)) for name in names]
    return [time_ns * 1e-9, *numbers, *([0.0] * (6 - len(numbers)))]


_FRAMES = 2**32


class Reader:
    """Turns one message after the other into chunks; a bad one is counted and is a break."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._numbering = Numbering(_FRAMES)
        self._pushes = Pushes(faults)

    def read(self, data: bytes | str, received_s: float) -> Iterable[Chunk | Break]:
        """Give what a message holds. Nothing is raised."""
        try:
            if isinstance(data, bytes) and data.startswith(MAGIC):
                return self._follow(decode(data), received_s)
            message = parse_json(data)
            if isinstance(message, dict) and "payload" in message:
                return self._pushes.read(message, received_s)
            return self._follow(read_frame(message), received_s)
        except FrameError:
            self._faults["damaged frame"] += 1
            return [Break(reason="garbage", received_s=received_s)]

    def forget(self) -> None:
        """Begin anew: another connection numbers its messages for itself."""
        self._numbering.forget()
        self._pushes.forget()

    def _follow(self, frame: Frame, received_s: float) -> Iterable[Chunk | Break]:
        repeated = self._numbering.repeats(frame.sequence)
        lost = self._numbering.follow(frame.sequence)
        if lost is None:
            self._faults["repeated frame" if repeated else "late frame"] += 1
            return []
        self._faults["lost frame"] += lost
        return [
            Chunk(
                samples=frame.samples,
                stamps_s=frame.stamps_s,
                received_s=received_s,
                lost=lost * frame.stamps_s.size,
            )
        ]
