from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from acclock.demo.demonstration import Chapter, Story
from acclock.live.events import SessionEvent, SessionStatus
from acclock.monitor.recorder import EventRecorder
from acclock.plots.timelines import draw_timeline, write_page
from acclock.sources.simulator import parse_script

BEGIN = datetime(2026, 1, 5, tzinfo=UTC)
STATUS = SessionStatus(session="s", person="anna", device="ear", at=BEGIN, reason="<b>why</b>")


def write(flips: list[int]) -> EventRecorder:
    """Open and lock in turn, at whole seconds."""
    recorder = EventRecorder(BEGIN)
    for number, at_s in enumerate(flips):
        opened = number % 2 == 0
        status = replace(
            STATUS,
            at=BEGIN + timedelta(seconds=at_s),
            state="unlocked" if opened else "locked",
            decision="accept" if opened else "reject",
            heart_rate_bpm=60.0 + number if opened else None,
        )
        kind = "unlocked" if opened else "locked"
        recorder.notify(SessionEvent(kind=kind, number=number + 1, status=status))  # type: ignore[arg-type]
    return recorder


@given(
    flips=st.lists(st.integers(0, 60), unique=True).map(sorted),
    span=st.tuples(st.integers(0, 60), st.integers(0, 60)).map(sorted),
)
def test_open_time_is_the_number_of_seconds_in_which_it_was_open(
    flips: list[int], span: list[int]
) -> None:
    start, end = span

    seconds = range(start, end)
    counted = sum(np.searchsorted(flips, second, side="right") % 2 for second in seconds)

    assert write(flips).open_s(start, end) == counted


def test_a_story_becomes_a_picture_and_a_page_that_needs_nothing_else(tmp_path: Path) -> None:
    acts = parse_script("wear anna 30 s, remove 10 s, wear ben 20 s")
    ends_s = (30.0, 40.0, 60.0)
    chapters = tuple(
        Chapter(title=act.deed, act=act, start_s=end_s - act.duration_s, end_s=end_s)
        for act, end_s in zip(acts, ends_s, strict=True)
    )
    story = Story(chapters=chapters, recorder=write([12, 31]))

    draw_timeline(story, tmp_path / "story.png")
    write_page(story, tmp_path / "story.html")

    page = (tmp_path / "story.html").read_text("utf-8")
    assert (tmp_path / "story.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in page
    assert "&lt;b&gt;why" in page
    assert "src=" not in page
    assert "<script" not in page
