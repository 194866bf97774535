"""Text tables of numbers, and which of their columns are time and acceleration."""

import re
from dataclasses import dataclass

import numpy as np

from acclock.acquisition.units import Unit, parse_unit
from acclock.errors import ConfigError, UnreadableError
from acclock.values import FloatArray

try:
    from acclock.recordings import _numbers as kernel
except ImportError:  # it was installed where no C compiler is
    from acclock.recordings import uncompiled_numbers as kernel  # type: ignore[no-redef]  # the same in Python

_DELIMITERS = "\t,;|"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LONGEST_HEADER = 65536
_MOST_COLUMNS = 512


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """Column names, and the text below them that is turned into numbers when asked for."""

    names: tuple[str, ...]
    delimiter: str
    text: bytes
    body: int
    """Where in ``text`` the rows begin."""
    first_line: int
    """The number of the line at ``body``, as an editor counts."""

    def numbers(self, *names: str) -> FloatArray:
        """Give some columns in the order asked for, one per row; empty fields are NaN."""
        places = [self._place(name) for name in names]
        wanted = tuple(sorted(set(places)))
        capacity = self.text.count(b"\n", self.body) + 1
        out = np.empty((len(wanted), capacity))
        try:
            rows = kernel.parse(self.text, self.body, self.delimiter.encode(), wanted, out)
        except ValueError as error:
            line, place = error.args
            raise UnreadableError(
                f"line {self.first_line + line} has no number in column "
                f"'{self.names[wanted[place]]}'"
            ) from None
        if rows == 0:
            raise UnreadableError("there are column names, but no rows below them")
        return out[[wanted.index(place) for place in places], :rows]

    def first_text(self, name: str) -> str:
        """Give what stands in a column in the first row, as text; nothing when there is none."""
        end = self.text.find(b"\n", self.body)
        line = self.text[self.body : end if end >= 0 else None].decode(errors="replace")
        fields = line.split(self.delimiter)
        place = self._place(name)
        return fields[place].strip() if place < len(fields) else ""

    def _place(self, name: str) -> int:
        if name not in self.names:
            found = ", ".join(self.names)
            raise UnreadableError(f"there is no column '{name}'; the columns are: {found}")
        return self.names.index(name)


def open_table(text: bytes) -> Table | None:
    r"""Find the row of column names, or nothing when this is not such a text.

    >>> open_table(b"t;x\n0;1\n").names
    ('t', 'x')
    """
    start = len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0
    line_number = 1
    while True:
        end = text.find(b"\n", start, start + _LONGEST_HEADER)
        line = text[start : end if end >= 0 else start + _LONGEST_HEADER]
        if end < 0 or (line.strip() and not line.startswith(b"#")):
            break
        start, line_number = end + 1, line_number + 1
    if end < 0:
        return None
    header = line.decode(errors="replace").strip("\r")
    if not header.replace("\t", "").isprintable():
        return None
    delimiter = max(_DELIMITERS, key=header.count)
    names = tuple(name.strip(' \t"') for name in header.split(delimiter))
    if len(names) < 2 or len(names) > _MOST_COLUMNS:
        return None
    return Table(
        names=names, delimiter=delimiter, text=text, body=end + 1, first_line=line_number + 1
    )


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
