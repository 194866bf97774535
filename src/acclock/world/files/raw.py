"""What a reader of one format delivers, before clock and unit are settled."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from acclock.acquisition.units import Unit
from acclock.values import Ear, FloatArray

_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(2100, 1, 1, tzinfo=UTC).timestamp()


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Who and what a recording is of, as far as its place and its neighbors tell."""

    person: str | None = None
    session: str | None = None
    device: str | None = None
    ear: Ear | None = None
    start: datetime | None = None
    day: date | None = None
    """The day where it was recorded, which may be known when the moment is not."""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Raw:
    """Samples as they stand in a file, with their time stamps."""

    format: str
    stamps_s: FloatArray
    samples: FloatArray
    """One row per axis, in the unit of the file."""
    unit: Unit | None = None
    """The unit, where the format or the header says so."""
    unit_in_header: bool = False
    native_rate_hz: float | None = None
    """The rate that the stamps were counted from, where the file has no clock of its own."""
    about: About = About()
    notes: tuple[str, ...] = ()


def moment(seconds: float) -> datetime | None:
    """Give the point in time so many seconds after the epoch, or nothing if not a likely one."""
    if not _EARLIEST <= seconds <= _LATEST:
        return None
    return datetime.fromtimestamp(seconds, tz=UTC)
