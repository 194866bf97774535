"""Which columns of a plain table are time and acceleration."""

import re
from dataclasses import dataclass

from acclock.acquisition.units import Unit, parse_unit
from acclock.errors import ConfigError, UnreadableError
from acclock.world.files.tables import Table

_TIME = re.compile(
    r"(t|ts|time|times?tamps?|seconds?|secs?|elapsed|seconds_?elapsed|epoch|unix_?time|clock)"
    r"(?:_?(s|sec|secs|seconds?|ms|msec|milliseconds?|us|µs|microseconds?|ns|nanoseconds?))?"
)
_AXIS = re.compile(
    r"(?:sensor_?)?(?:a|acc|accel|acceleration|accelerometer|lin_?acc)?_?([xyz])(?:_?axis)?"
)
_BRACKETS = re.compile(r"[\[(]([^\])]*)[\])]")
_TIME_UNITS = {"s": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9}


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Names that win over what would be guessed. A table without stamps needs ``sampled_hz``."""

    time: str | None = None
    x: str | None = None
    y: str | None = None
    z: str | None = None
    seconds_per_tick: float | None = None
    """How long one unit of the time column is, where its name does not say."""
    sampled_hz: float | None = None
    """The rate at which it was sampled: the time column is then not looked at."""

    def __post_init__(self) -> None:
        for name, value in (
            ("seconds_per_tick", self.seconds_per_tick),
            ("sampled_hz", self.sampled_hz),
        ):
            if value is not None and not 0 < value < float("inf"):
                raise ConfigError(f"{name} must be positive, not {value}")


def find_axes(table: Table, columns: Columns) -> tuple[str, str, str]:
    """Name the three columns of acceleration."""
    found = {axis: name for name in reversed(table.names) if (axis := _axis_of(name))}
    found |= {axis: name for axis in "xyz" if (name := getattr(columns, axis))}
    if missing := [axis for axis in "xyz" if axis not in found]:
        raise UnreadableError(
            f"no column for acceleration along {', '.join(missing)} was found among "
            f"{', '.join(table.names)}; name the columns"
        )
    return found["x"], found["y"], found["z"]


def find_time(table: Table, columns: Columns) -> str | None:
    """Name the column of time stamps, or nothing when there is none."""
    if columns.time is not None:
        return columns.time
    named = [name for name in table.names if _TIME.fullmatch(_bare(name))]
    numeric = [name for name in named if _is_number(table.first_text(name))]
    return next(iter(numeric or named), None)


def unit_of(name: str) -> Unit | None:
    """Give the unit that stands in brackets in a column's name, or nothing."""
    brackets = _BRACKETS.search(name)
    return parse_unit(brackets.group(1)) if brackets else None


def seconds_per_tick(name: str) -> float | None:
    """Give how long one unit of a time column is, where the column's name says so.

    >>> seconds_per_tick("time_ms"), seconds_per_tick("elapsed (s)"), seconds_per_tick("t")
    (0.001, 1.0, None)
    """
    brackets = _BRACKETS.search(name)
    named = _TIME.fullmatch(_bare(name))
    said = brackets.group(1).strip() if brackets else named.group(2) if named else None
    if not said and named and named.group(1).startswith("sec"):
        said = "s"
    return _TIME_UNITS.get(said[0].lower()) if said else None


def _axis_of(name: str) -> str | None:
    found = _AXIS.fullmatch(_bare(name))
    return found.group(1) if found else None


def _bare(name: str) -> str:
    words = re.sub(r"[\s.\-]+", "_", _BRACKETS.sub("", name).strip())
    return words.strip("_").lower()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
