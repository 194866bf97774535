"""The layout of MSCardio: seismocardiograms taken with people's own phones."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from acclock.world.files.raw import About
from acclock.world.files.sidecars import read_rows, read_section
from acclock.world.files.trees import Item

PATTERN = re.compile(r"(?:^|/)(?P<person>Subject_\d+)/(?P<session>Recording_\d+)/scg\.csv$")
_TABLES_OF_PEOPLE = ("info/all_subject_info.csv", "info/all_subject_data.csv")
_LABELS = ("sex", "race", "age", "height", "weight", "platform")


def describe(item: Item) -> About:
    """Tell person, session, day, phone and what the person said about themselves."""
    place = PATTERN.search(item.path)
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


def _read_person(item: Item) -> dict[str, str]:
    return read_section(item.beside("general_metadata.json", levels_up=1), "general_info")


def _look_up_person(item: Item, person: str | None) -> dict[str, str]:
    tables = (item.beside(name, levels_up=3) for name in _TABLES_OF_PEOPLE)
    rows = read_rows(next((table for table in tables if table), None))
    return next((row for row in rows if row.get("subject_id") == person), {})


def _read_start(item: Item) -> datetime | None:
    """Read when it was recorded: written down in UTC, given in the time zone of the person."""
    facts = read_section(item.beside("recording_metadata.json"), "recording_info")
    try:
        moment = datetime.strptime(f"{facts['recording_time']}+0000", "%Y-%m-%d_%H-%M-%S%z")
        return moment.astimezone(ZoneInfo(facts.get("recording_timezone", "UTC")))
    except (KeyError, ValueError, OSError):  # OSError: a zone that is a folder of zones
        return None
