"""Which format a file has, by looking into it."""

from collections.abc import Callable

from acclock.errors import AccLockError, UnreadableError
from acclock.recordings.formats import esense, open_earable, sensor_logger, tabular
from acclock.recordings.formats import tabular as tabular_module
from acclock.recordings.formats import tabular as tabular_module_
from acclock.recordings.formats import tabular as tabular_module__
from acclock.recordings.raw import Raw
from acclock.recordings.tables import Columns, Table, find_axes, find_time, open_table
from acclock.recordings.trees import TreeFile

_TABLES: tuple[
    tuple[Callable[[tuple[str, ...]], bool], Callable[[TreeFile, Table, Columns], Raw]], ...
] = (
    (tabular.is_metawear, lambda item, table, _: tabular.parse_metawear(item, table)),
    (sensor_logger.is_headphone, lambda item, table, _: sensor_logger.parse_headphone(item, table)),
    (sensor_logger.is_phone, lambda item, table, _: sensor_logger.parse_phone(item, table)),
    (tabular_module.is_muse, lambda item, table, _: tabular_module.parse_muse(item, table)),
    (
        tabular_module_.is_open_earable_csv,
        lambda item, table, _: tabular_module_.parse_open_earable_csv(item, table),
    ),
    (esense.is_esense_table, esense.parse_table),
)
_NO_COLUMNS = Columns()


def parse(item: TreeFile, data: bytes, columns: Columns = _NO_COLUMNS) -> Raw:
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
    if _choose_table(table, _NO_COLUMNS) is not tabular_module__.parse_plain:
        return True
    try:
        find_axes(table, _NO_COLUMNS)
    except AccLockError:
        return False
    return find_time(table, _NO_COLUMNS) is not None


def _choose_table(table: Table, columns: Columns) -> Callable[[TreeFile, Table, Columns], Raw]:
    if any((columns.time, columns.x, columns.y, columns.z)):
        return tabular_module__.parse_plain
    fitting = (parse for recognizes, parse in _TABLES if recognizes(table.names))
    return next(fitting, tabular_module__.parse_plain)
