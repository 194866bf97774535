"""``acclock info``: what a file holds."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.denoising.beats import average_beat, find_beats
from acclock.denoising.fiducials import find_fiducials
from acclock.denoising.heartbeat import SHORTEST_S, Heartbeat, clearest_heartbeat
from acclock.errors import TooShortError
from acclock.world.files import Entry, Reading, Unit, holds_many, inspect, open_dataset

Fiducials = Annotated[bool, typer.Option(help="Also find the points H to N of the average beat.")]


def info(
    file: Annotated[str, typer.Argument(help="A recording, or a data set as a folder or zip.")],
    *,
    unit: Annotated[Unit | None, typer.Option(help="The unit, where it cannot be told.")] = None,
    fiducials: Fiducials = False,
    as_json: JsonFlag = False,
) -> None:
    """Say what FILE is: format, rate, unit, gaps, heart rate, and how clear the heartbeat is."""
    if holds_many(file):
        show(_describe_dataset(file), as_json=as_json, title=file)
        return
    reading = inspect(file, unit=unit)
    facts = _describe(reading) | _describe_heartbeat(reading, fiducials=fiducials)
    show(facts, as_json=as_json, title=file)


def _describe_dataset(path: str) -> dict[str, object]:
    dataset = open_dataset(path)
    entries = list(dataset)
    return {
        "format": dataset.name,
        "people": len(dataset.people),
        "recordings": len(entries),
        "people_on_several_days": _count_on_several_days(entries),
        "devices": len({entry.device for entry in entries if entry.device}),
        "first_recording": f"{path}::{entries[0].name}",
    }


def _describe(reading: Reading) -> dict[str, object]:
    recording = reading.recording
    return {
        "format": reading.format,
        "person": recording.person,
        "session": recording.session,
        "device": recording.device,
        "start": recording.start.isoformat() if recording.start else None,
        "duration_s": round(recording.duration_s, 2),
        "rate_hz": recording.rate_hz,
        "native_rate_hz": round(reading.native_rate_hz, 2),
        "unit": reading.unit,
        "gravity": "included" if reading.gravity else "removed",
        "missing_share": round(recording.missing_share, 4),
        "gaps": [
            {"start_s": round(gap.start_s, 2), "length_s": round(gap.length_s, 2)}
            for gap in reading.gaps
        ],
        "labels": dict(recording.labels),
        "notes": list(reading.notes),
    }


def _describe_heartbeat(reading: Reading, *, fiducials: bool) -> dict[str, object]:
    try:
        heartbeat = clearest_heartbeat(reading.recording)
    except TooShortError:
        return {"heartbeat": f"cannot be read from less than {SHORTEST_S:g} s without a gap"}
    rate = heartbeat.rate
    facts: dict[str, object] = {
        "heart_rate_bpm": round(rate.bpm, 1) if rate.clear else None,
        "heartbeat_is_clear": rate.clear,
        "clarity": round(rate.clarity, 2),
        "clearest_axis": heartbeat.axis,
    }
    return facts | (_describe_points(heartbeat, reading.recording.rate_hz) if fiducials else {})


def _describe_points(heartbeat: Heartbeat, rate_hz: float) -> dict[str, object]:
    beats_s = find_beats(heartbeat.signal, rate_hz)
    if not heartbeat.rate.clear or not beats_s.size:
        return {"fiducials": "no average beat could be formed"}
    beat = average_beat(heartbeat.signal, beats_s, rate_hz)
    points = find_fiducials(beat).points
    return {
        "averaged_beats": beat.count,
        "fiducials": [
            {"name": name, "after_j_ms": round(at.offset_ms, 1), "m_s2": round(at.amplitude, 4)}
            for name, at in points.items()
            if at is not None
        ],
    }


def _count_on_several_days(entries: Sequence[Entry]) -> int:
    days = {(entry.person, entry.day) for entry in entries if entry.day}
    return sum(count > 1 for count in Counter(person for person, _ in days).values())
