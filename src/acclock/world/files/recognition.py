"""Which format a file has, by looking into it."""

from collections.abc import Callable

from acclock.errors import AccLockError, UnreadableError
from acclock.world.files.columns import Columns, find_axes, find_time
from acclock.world.files.formats import (
    esense,
    metawear,
    muse,
    open_earable,
    open_earable_csv,
    plain,
    sensor_logger,
)
from acclock.world.files.raw import Raw
from acclock.world.files.tables import Table, open_table
from acclock.world.files.trees import Item

_TABLES: tuple[
    tuple[Callable[[tuple[str, ...]], bool], Callable[[Item, Table, Columns], Raw]], ...
] = (
    (metawear.is_metawear, lambda item, table, _: metawear.parse(item, table)),
    (sensor_logger.is_headphone, lambda item, table, _: sensor_logger.parse_headphone(item, table)),
    (sensor_logger.is_phone, lambda item, table, _: sensor_logger.parse_phone(item, table)),
    (muse.is_muse, lambda item, table, _: muse.parse(item, table)),
    (
        open_earable_csv.is_open_earable_csv,
        lambda item, table, _: open_earable_csv.parse(item, table),
    ),
    (esense.is_esense_table, esense.parse_table),
)
_NO_COLUMNS = Columns()


def parse(item: Item, data: bytes, columns: Columns = _NO_COLUMNS) -> Raw:
    """Read a file by the first format that it looks like."""
    if not data.strip():
        raise UnreadableError("the file is empty; a recording is needed")
    if open_earable.is_open_earable(data):
        return open_earable.parse(item, data)
    if esense.is_esense_packets(data):
        return esense.parse_packets(item, data, columns)
    table = open_table(data)
    if table is None:
        raise UnreadableError(
            "this is neither text with a row of column names nor a recording in a known format"
        )
    return _choose_table(table, columns)(item, table, columns)


def looks_like_recording(beginning: bytes) -> bool:
    """Whether a file that begins so can be read without being told about its columns."""
    if open_earable.is_open_earable(beginning) or esense.is_esense_packets(beginning):
        return True
    table = open_table(beginning)
    if table is None:
        return False
    if _choose_table(table, _NO_COLUMNS) is not plain.parse:
        return True
    try:
        find_axes(table, _NO_COLUMNS)
    except AccLockError:
        return False
    return find_time(table, _NO_COLUMNS) is not None


def _choose_table(table: Table, columns: Columns) -> Callable[[Item, Table, Columns], Raw]:
    if any((columns.time, columns.x, columns.y, columns.z)):
        return plain.parse
    fitting = (parse for recognizes, parse in _TABLES if recognizes(table.names))
    return next(fitting, plain.parse)
