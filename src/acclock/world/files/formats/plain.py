"""Plain tables: a column of time and three of acceleration, named so or by the caller."""

import numpy as np

from acclock.errors import UnreadableError
from acclock.values import FloatArray
from acclock.world.files.columns import (
    Columns,
    find_axes,
    find_time,
    seconds_per_tick,
    unit_of,
)
from acclock.world.files.raw import About, Raw, moment
from acclock.world.files.tables import Table
from acclock.world.files.trees import Item

FORMAT = "table with named columns"


def parse(item: Item, table: Table, columns: Columns) -> Raw:
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
        format=FORMAT,
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
