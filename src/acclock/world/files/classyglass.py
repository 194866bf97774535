"""The layout of ClassyGlass: a sensor on the temple of glasses, beside the ear."""

import re
from datetime import date

from acclock.world.files.raw import About
from acclock.world.files.trees import Item

PATTERN = re.compile(
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


def describe(item: Item) -> About:
    """Tell person, number, day, sensor and activity; users of different parts are strangers."""
    place = PATTERN.search(item.path)
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
