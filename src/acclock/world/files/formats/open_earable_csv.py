"""Tables that the app and the dashboard of OpenEarable 1 write."""

import numpy as np

from acclock.world.files.formats.plain import guess_tick
from acclock.world.files.raw import About, Raw, moment
from acclock.world.files.tables import Table
from acclock.world.files.trees import Item

FORMAT = "OpenEarable 1 CSV"
_AXES = ("sensor_accX", "sensor_accY", "sensor_accZ")


def is_open_earable_csv(names: tuple[str, ...]) -> bool:
    """Whether these are the columns of an OpenEarable 1 recording."""
    return "time" in names and all(any(n.startswith(axis) for n in names) for axis in _AXES)


def parse(item: Item, table: Table) -> Raw:
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
        format=FORMAT,
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
