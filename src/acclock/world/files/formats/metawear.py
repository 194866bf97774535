"""Recordings of MetaWear sensors, as in the ClassyGlass data set."""

import re

import numpy as np

from acclock.errors import UnreadableError
from acclock.world.files.columns import unit_of
from acclock.world.files.raw import About, Raw, moment
from acclock.world.files.tables import Table
from acclock.world.files.trees import Item

FORMAT = "MetaWear CSV"
_AXES = tuple(re.compile(rf"{axis}-axis \((.+)\)") for axis in "xyz")


def is_metawear(names: tuple[str, ...]) -> bool:
    """Whether these are the columns that MetaWear writes."""
    return {"epoch (ms)", "elapsed (s)"} <= set(names) and any(
        name.startswith("x-axis") for name in names
    )


def parse(item: Item, table: Table) -> Raw:
    """Read one sensor's file; the unit stands in the names of its columns."""
    axes = [next((n for n in table.names if pattern.fullmatch(n)), None) for pattern in _AXES]
    if any(axis is None or unit_of(axis) is None for axis in axes):
        raise UnreadableError(
            f"the columns {', '.join(table.names[3:])} are not acceleration along x, y and z"
        )
    names = [axis for axis in axes if axis is not None]
    stamps_s, epoch_ms, *rows = table.numbers("elapsed (s)", "epoch (ms)", *names)
    return Raw(
        format=FORMAT,
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
