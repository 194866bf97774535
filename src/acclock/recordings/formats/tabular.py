"""Tables of time and acceleration: plain ones, and those of OpenEarable 1, MetaWear and MuSe."""

import re

import numpy as np

from acclock.errors import UnreadableError
from acclock.recordings.raw import About, Raw, moment
from acclock.recordings.tables import (
    Columns,
    Table,
    find_axes,
    find_time,
    seconds_per_tick,
    unit_of,
)
from acclock.recordings.trees import TreeFile
from acclock.values import FloatArray

PLAIN = "table with named columns"


def parse_plain(item: TreeFile, table: Table, columns: Columns) -> Raw:
    """Read a table by its column names; what the caller says about them wins."""
    axes = find_axes(table, columns)
    time = find_time(table, columns)
    if columns.sampled_hz is not None:
        samples = table.numbers(*axes)
        stamps_s, start = np.arange(samples.shape[1]) / columns.sampled_hz, None
    elif time is None:
        raise UnreadableError(
            f"no column of time was found among {', '.join(table.names)}; "
            "name it, or say at which rate it was sampled"
        )
    else:
        ticks, *rows = table.numbers(time, *axes)
        samples = np.stack(rows)
        tick_s = columns.seconds_per_tick or seconds_per_tick(time) or guess_tick(ticks)
        stamps_s, start = ticks * tick_s, moment(float(ticks[0]) * tick_s)
    unit = unit_of(axes[0])
    return Raw(
        format=PLAIN,
        stamps_s=stamps_s,
        samples=samples,
        unit=unit,
        unit_in_header=unit is not None,
        native_rate_hz=columns.sampled_hz,
        about=About(session=item.stem, start=start),
    )


def guess_tick(ticks: FloatArray) -> float:
    """Tell from the values of time stamps how many seconds one unit is.

    Stamps since the epoch tell by their size. Others tell by the rate that would follow: steps of
    5 to 100 are milliseconds, because a recording at one sample in 5 to 100 seconds is none.
    What could be read in two ways is refused.

    >>> guess_tick(np.array([0.0, 10.0, 20.0])), guess_tick(np.array([0.0, 0.02, 0.04]))
    (0.001, 1.0)
    """
    steps = np.diff(ticks[np.isfinite(ticks)])
    step = float(np.median(steps)) if steps.size else 0.0
    for tick_s in (1.0, 1e-3, 1e-6, 1e-9):
        if steps.size and moment(float(np.nanmin(ticks)) * tick_s) is not None:
            return tick_s
        if 0 < step * tick_s <= 0.1 and (tick_s == 1.0 or step * tick_s >= 0.005):
            return tick_s
    if step <= 0:
        return 1.0  # time stands still or runs backwards: let the clock say so
    raise UnreadableError(
        f"the unit of time cannot be told from steps of {step:.4g}; say how many seconds one is"
    )


OPEN_EARABLE_CSV = "OpenEarable 1 CSV"
_AXES = ("sensor_accX", "sensor_accY", "sensor_accZ")


def is_open_earable_csv(names: tuple[str, ...]) -> bool:
    """Whether these are the columns of an OpenEarable 1 recording."""
    return "time" in names and all(any(n.startswith(axis) for n in names) for axis in _AXES)


def parse_open_earable_csv(item: TreeFile, table: Table) -> Raw:
    """Read the acceleration, which is in m/s² although the header says m/s.

    Rows of other sensors lack it and are left out. The dashboard sorts its stamps as words, so
    that 1000 comes before 999: they are put in order of time.
    """
    axes = [next(name for name in table.names if name.startswith(axis)) for axis in _AXES]
    numbers = table.numbers("time", *axes)
    numbers = numbers[:, ~np.isnan(numbers[1:]).all(axis=0)]
    in_order = np.argsort(numbers[0], kind="stable")
    shuffled = bool((np.diff(in_order) != 1).any())
    ticks, *rows = numbers[:, in_order]
    tick_s = guess_tick(ticks)
    return Raw(
        format=OPEN_EARABLE_CSV,
        stamps_s=ticks * tick_s,
        samples=np.stack(rows),
        unit="m/s²",
        about=About(
            session=item.stem,
            device="OpenEarable 1",
            start=moment(float(ticks[0]) * tick_s),
        ),
        notes=("rows were not in order of time: sorted",) if shuffled else (),
    )


METAWEAR = "MetaWear CSV"
_METAWEAR_AXES = tuple(re.compile(rf"{axis}-axis \((.+)\)") for axis in "xyz")


def is_metawear(names: tuple[str, ...]) -> bool:
    """Whether these are the columns that MetaWear writes."""
    return {"epoch (ms)", "elapsed (s)"} <= set(names) and any(
        name.startswith("x-axis") for name in names
    )


def parse_metawear(item: TreeFile, table: Table) -> Raw:
    """Read one sensor's file; the unit stands in the names of its columns."""
    axes = [
        next((n for n in table.names if pattern.fullmatch(n)), None) for pattern in _METAWEAR_AXES
    ]
    if any(axis is None or unit_of(axis) is None for axis in axes):
        raise UnreadableError(
            f"the columns {', '.join(table.names[3:])} are not acceleration along x, y and z"
        )
    names = [axis for axis in axes if axis is not None]
    stamps_s, epoch_ms, *rows = table.numbers("elapsed (s)", "epoch (ms)", *names)
    return Raw(
        format=METAWEAR,
        stamps_s=stamps_s,
        samples=np.stack(rows),
        unit=unit_of(names[0]),
        unit_in_header=True,
        about=About(
            session=item.stem,
            device="MetaWear",
            start=moment(float(epoch_ms[0]) / 1e3),
        ),
    )


MUSE = "MuSe text"
_MUSE_AXES = ("AccX", "AccY", "AccZ")
_TOLERANCE = 0.02


def is_muse(names: tuple[str, ...]) -> bool:
    """Whether these are the columns of a MuSe log."""
    return {"Log Freq", "Timestamp", *_MUSE_AXES} <= set(names)


def parse_muse(item: TreeFile, table: Table) -> Raw:
    """Read a log; its clock knows whole seconds only, so time is counted from ``Log Freq``.

    The logger may begin with a buffer of an earlier recording: rows that end in a jump within
    their first second are left out. A later jump is a gap.
    """
    rates, seconds, *rows = table.numbers("Log Freq", "Timestamp", *_MUSE_AXES)
    samples = np.stack(rows)
    rate_hz = float(rates[0])
    if not rate_hz > 0 or (rates != rate_hz).any():
        raise UnreadableError("'Log Freq' must hold one positive rate in all rows")
    stale = _count_stale(seconds, rate_hz)
    seconds, samples = seconds[stale:], samples[:, stale:]
    notes = [f"time is counted from 'Log Freq', {rate_hz:g} Hz"]
    if stale:
        notes.append(f"the first {stale} samples belong to an earlier recording: left out")
    counted_hz = _count_per_second(seconds)
    if counted_hz and abs(counted_hz / rate_hz - 1.0) > _TOLERANCE:
        notes.append(f"its clock of whole seconds counts {counted_hz:.1f} samples a second")
    return Raw(
        format=MUSE,
        stamps_s=_stamp(seconds, rate_hz),
        samples=samples,
        unit="mg",
        native_rate_hz=rate_hz,
        about=About(
            session=item.stem,
            device="MuSe",
            start=moment(float(seconds[0])),
        ),
        notes=tuple(notes),
    )


def _count_stale(seconds: FloatArray, rate_hz: float) -> int:
    beginning = np.diff(seconds[: int(rate_hz) + 1])
    jumps = np.flatnonzero(beginning > 1)
    return int(jumps[-1]) + 1 if jumps.size else 0


def _count_per_second(seconds: FloatArray) -> float | None:
    _, counts = np.unique(seconds, return_counts=True)
    return float(counts[1:-1].mean()) if counts.size > 10 else None


def _stamp(seconds: FloatArray, rate_hz: float) -> FloatArray:
    jumps = np.diff(seconds, prepend=seconds[:1])
    if (jumps < 0).any():
        return np.asarray(seconds, dtype=np.float64)  # time runs backwards: let the clock say so
    silence_s = np.cumsum(np.where(jumps > 1, jumps - 1, 0.0))
    return np.asarray(np.arange(seconds.size) / rate_hz + silence_s)
