"""Text of the 221e MuSe motion sensor."""

import numpy as np

from acclock.errors import UnreadableError
from acclock.values import FloatArray
from acclock.world.files.raw import About, Raw, moment
from acclock.world.files.tables import Table
from acclock.world.files.trees import Item

FORMAT = "MuSe text"
_AXES = ("AccX", "AccY", "AccZ")
_TOLERANCE = 0.02


def is_muse(names: tuple[str, ...]) -> bool:
    """Whether these are the columns of a MuSe log."""
    return {"Log Freq", "Timestamp", *_AXES} <= set(names)


def parse(item: Item, table: Table) -> Raw:
    """Read a log; its clock knows whole seconds only, so time is counted from ``Log Freq``.

    The logger may begin with a buffer of an earlier recording: rows that end in a jump within
    their first second are left out. A later jump is a gap.
    """
    rates, seconds, *rows = table.numbers("Log Freq", "Timestamp", *_AXES)
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
        format=FORMAT,
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
