"""What the phone app Sensor Logger pushes, over HTTP or MQTT: headphones, or the phone itself."""

from collections.abc import Iterable, Mapping

import numpy as np

from acclock.acquisition.units import METERS_PER_S2
from acclock.session.chunks import Break, Chunk
from acclock.values import FloatArray
from acclock.world.files.formats.sensor_logger import tell_unit
from acclock.world.sources.frames import FrameError, read_number
from acclock.world.sources.numbering import Numbering
from acclock.world.sources.source import Faults

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

    def read(self, message: Mapping[str, object], heard_s: float) -> Iterable[Chunk | Break]:
        """Give the acceleration in a message in m/s²; refuse what Sensor Logger never sends."""
        readings = message["payload"]
        if not isinstance(readings, list) or len(readings) > MOST_READINGS:
            raise FrameError(f"a payload is a list of up to {MOST_READINGS} readings")
        pieces: list[Chunk | Break] = []
        if self._session is not None and message.get("sessionId") != self._session:
            self.forget()
            pieces.append(Break(reason="disconnect", heard_s=heard_s))
        self._session = message.get("sessionId", "")
        if self._is_old(message.get("messageId")):
            return pieces
        rows = self._choose(readings)
        return pieces + (self._give(rows, heard_s) if rows.size else [])

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

    def _give(self, rows: FloatArray, heard_s: float) -> list[Chunk | Break]:
        rows = rows[:, np.argsort(rows[0], kind="stable")]
        if not self._headphones:
            self._factor = 1.0  # the app gives the phone's own sensor in m/s²
        if self._factor is None:
            rows = self._settle(rows)
        if self._factor is None or not rows.size:
            return []
        samples = rows[1:4] * self._factor
        return [Chunk(samples=samples, stamps_s=rows[0], heard_s=heard_s)]

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
        unit, _ = tell_unit(held[4:], held[1:4], held[0])
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
