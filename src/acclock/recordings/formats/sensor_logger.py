"""Exports of the phone app Sensor Logger: headphones (AirPods) and the phone's own sensor."""

from collections.abc import Mapping
from datetime import datetime

import numpy as np

from acclock.acquisition.units import Unit, median_length, quietest_second
from acclock.errors import UnreadableError
from acclock.recordings.raw import About, Raw, moment
from acclock.recordings.tables import Table
from acclock.recordings.trees import TreeFile, read_rows
from acclock.values import STANDARD_GRAVITY, Ear, FloatArray

HEADPHONE = "Sensor Logger Headphone.csv"
PHONE = "Sensor Logger Accelerometer.csv"

_ACCELERATION = ("accelerationX", "accelerationY", "accelerationZ")
_GRAVITY = ("gravityX", "gravityY", "gravityZ")
_OTHER_SENSORS = ("gyro", "gravity", "magnet", "compass", "orientation")
_SETTLING_S = 1.0
_STILLEST_HEAD = 0.02
"""Root mean square in m/s² of the stillest second of any real head; one that moves less than
this number was written in g."""


def is_headphone(names: tuple[str, ...]) -> bool:
    """Whether these are the columns of Headphone.csv."""
    return {"seconds_elapsed", *_ACCELERATION} <= set(names)


def is_phone(names: tuple[str, ...]) -> bool:
    """Whether these are the columns of Accelerometer.csv, which MSCardio has too."""
    return {"seconds_elapsed", "x", "y", "z"} <= set(names)


def parse_headphone(item: TreeFile, table: Table) -> Raw:
    """Read what AirPods felt; gravity was already taken out by the phone."""
    stamps_s, *rows = table.numbers("seconds_elapsed", *_ACCELERATION)
    samples = np.stack(rows)
    settled = stamps_s >= stamps_s[0] + _SETTLING_S
    about = _read_metadata(item)
    unit, note = _infer_unit(table, about, samples, stamps_s)
    return Raw(
        format=HEADPHONE,
        stamps_s=stamps_s[settled],
        samples=samples[:, settled],
        unit=unit,
        about=About(
            session=about.get("recording time"),
            device="headphones",
            ear=_infer_ear(table),
            start=_infer_start(table, float(stamps_s[np.argmax(settled)] - stamps_s[0])),
            labels={"phone": about["device name"]} if "device name" in about else {},
        ),
        notes=("the first second, while the stream settles, is left out", *note),
    )


def parse_phone(item: TreeFile, table: Table) -> Raw:
    """Read what a phone felt: m/s², and without gravity unless the values say otherwise."""
    stem = item.stem.lower()
    if any(word in stem for word in _OTHER_SENSORS):
        raise UnreadableError(f"'{item.stem}' is not acceleration; Accelerometer.csv is needed")
    stamps_s, *rows = table.numbers("seconds_elapsed", "x", "y", "z")
    return Raw(
        format=PHONE,
        stamps_s=stamps_s,
        samples=np.stack(rows),
        unit=None if "uncalibrated" in stem else "m/s²",  # an iPhone writes the raw values in g
        about=About(session=item.stem, start=_infer_start(table)),
    )


def _infer_unit(
    table: Table, about: Mapping[str, str], samples: FloatArray, stamps_s: FloatArray
) -> tuple[Unit | None, tuple[str, ...]]:
    """Tell g from m/s²: the export's own word, then gravity, then how still a head can be.

    The app writes gravity in m/s² whether acceleration is standardized to m/s² or left in g, so
    that gravity of length 1 tells g, but one of length 9.8 tells nothing.
    """
    if (standardized := about.get("standardisation", "").lower()) in ("true", "false"):
        return ("m/s²" if standardized == "true" else "g"), ()
    if not set(_GRAVITY) <= set(table.names):
        return None, ()
    return infer_unit(table.numbers(*_GRAVITY), samples, stamps_s)


def infer_unit(
    gravity: FloatArray, samples: FloatArray, stamps_s: FloatArray
) -> tuple[Unit | None, tuple[str, ...]]:
    """Tell g from m/s² by gravity beside the acceleration, then by how still a head can be."""
    if stamps_s.size < 2:
        return None, ()
    length = median_length(gravity)
    if abs(length - 1.0) < 0.2:
        return "g", ("gravity beside it is 1 long: taken as g",)
    if abs(length - STANDARD_GRAVITY) > 0.2 * STANDARD_GRAVITY:
        return None, ()
    span_s = float(stamps_s[-1] - stamps_s[0])
    still = quietest_second(samples, (stamps_s.size - 1) / span_s if span_s > 0 else 1.0)
    unit: Unit = "g" if still < _STILLEST_HEAD else "m/s²"
    return unit, (
        f"Metadata.csv is not beside it, and the stillest second moves by {still:.2g}: "
        f"taken as {unit}",
    )


def _read_metadata(item: TreeFile) -> dict[str, str]:
    rows = read_rows(item.beside("Metadata.csv") or item.beside("metadata.csv"))
    return rows[0] if rows else {}


def _infer_ear(table: Table) -> Ear | None:
    location = table.first_text("devicelocation").lower() if "devicelocation" in table.names else ""
    return "left" if "left" in location else "right" if "right" in location else None


def _infer_start(table: Table, later_s: float = 0.0) -> datetime | None:
    """Give the moment of the first row, or some seconds later; the other rows need not be read."""
    try:
        return moment(float(table.first_text("time")) * 1e-9 + later_s)
    except (ValueError, UnreadableError):
        return None
