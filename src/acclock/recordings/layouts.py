"""Data sets that are known by where their files lie: ClassyGlass and MSCardio."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from acclock.recordings.raw import About
from acclock.recordings.trees import Tree, TreeFile, read_rows, read_section

CLASSYGLASS_PATTERN = re.compile(
    r"(?:Dataset_(?P<part>\w+)/(?:SensorData/)?)?(?P<person>User\d+)/(?P<number>\d+)_MetaWear\w*_"
    r"(?P<day>\d{4}-\d\d-\d\d)T[\d.]+_(?P<sensor>[0-9A-F]+)_Accelerometer_[^/]*\.csv$"
)
_ACTIVITIES = {
    "1A": (
        "reading", "writing", "typing", "browsing", "moving head or body", "moving chair",
        "standing up", "standing", "walking", "running", "stairs",
    ),
    "2": ("reading", "computer", "sit to stand", "walking", "picking up", "timed up and go"),
}  # fmt: skip


def describe_classyglass(item: TreeFile) -> About:
    """Tell person, number, day, sensor and activity; users of different parts are strangers."""
    place = CLASSYGLASS_PATTERN.search(item.path)
    if place is None:
        return About(session=item.stem)
    part = place["part"]
    activity = _name_activity(part, int(place["number"]))
    return About(
        person=f"{part}-{place['person']}" if part else place["person"],
        session=place["number"],
        device=f"MetaWear {place['sensor']}",
        day=_read_day(place["day"]),
        labels={"activity": activity} if activity else {},
    )


def _name_activity(part: str | None, number: int) -> str | None:
    """Name what was done: the files of a part are numbered through, person after person."""
    activities = _ACTIVITIES.get(part or "")
    return activities[(number - 1) % len(activities)] if activities else None


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


MSCARDIO_PATTERN = re.compile(
    r"(?:^|/)(?P<person>Subject_\d+)/(?P<session>Recording_\d+)/scg\.csv$"
)
_TABLES_OF_PEOPLE = ("info/all_subject_info.csv", "info/all_subject_data.csv")
_LABELS = ("sex", "race", "age", "height", "weight", "platform")


def describe_mscardio(item: TreeFile) -> About:
    """Tell person, session, day, phone and what the person said about themselves."""
    place = MSCARDIO_PATTERN.search(item.path)
    person = place["person"] if place else None
    facts = _read_person(item) or _look_up_person(item, person)
    start = _read_start(item)
    return About(
        person=person,
        session=place["session"] if place else item.stem,
        device=facts.get("device_name"),
        start=start,
        day=start.date() if start else None,
        labels={name: facts[name] for name in _LABELS if name in facts},
    )


def _read_person(item: TreeFile) -> dict[str, str]:
    return read_section(item.beside("general_metadata.json", levels_up=1), "general_info")


def _look_up_person(item: TreeFile, person: str | None) -> dict[str, str]:
    tables = (item.beside(name, levels_up=3) for name in _TABLES_OF_PEOPLE)
    rows = read_rows(next((table for table in tables if table), None))
    return next((row for row in rows if row.get("subject_id") == person), {})


def _read_start(item: TreeFile) -> datetime | None:
    """Read when it was recorded: written down in UTC, given in the time zone of the person."""
    facts = read_section(item.beside("recording_metadata.json"), "recording_info")
    try:
        moment = datetime.strptime(f"{facts['recording_time']}+0000", "%Y-%m-%d_%H-%M-%S%z")
        return moment.astimezone(ZoneInfo(facts.get("recording_timezone", "UTC")))
    except (KeyError, ValueError, OSError):  # OSError: a zone that is a folder of zones
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Which files of a data set are recordings, and what their places and neighbors tell."""

    name: str
    format: str
    pattern: re.Pattern[str]
    """Found in the path of each recording."""
    describe: Callable[[TreeFile], About]

    def holds(self, item: TreeFile) -> bool:
        """Whether a file is a recording of this data set."""
        return self.pattern.search(item.path) is not None


LAYOUTS = (
    Layout(
        name="MSCardio",
        format="MSCardio scg.csv",
        pattern=MSCARDIO_PATTERN,
        describe=describe_mscardio,
    ),
    Layout(
        name="ClassyGlass",
        format="ClassyGlass MetaWear CSV",
        pattern=CLASSYGLASS_PATTERN,
        describe=describe_classyglass,
    ),
)


def layout_of(item: TreeFile) -> Layout | None:
    """Name the data set that a file belongs to by its place, if one."""
    return next((layout for layout in LAYOUTS if layout.holds(item)), None)


def find_layout(tree: Tree) -> Layout | None:
    """Name the data set that lies in a tree, if one."""
    found = (layout_of(TreeFile(tree, name)) for name in tree.names)
    return next((layout for layout in found if layout), None)
