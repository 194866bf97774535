from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from acclock.errors import SignalError
from acclock.experiments.participants import Participant, choose_recordings, cut_ends
from acclock.recordings import DatasetEntry, Loaded
from acclock.recordings.raw import About
from acclock.recordings.reading import open_tree
from acclock.recordings.trees import TreeFile
from acclock.values import Recording

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
Load = Callable[..., Loaded]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    tree = open_tree(tmp_path)
    assert tree is not None

    def make(
        session: str,
        *,
        duration_s: float = 70.0,
        start: datetime | None = None,
        day: date | None = None,
    ) -> Loaded:
        entry = DatasetEntry(
            name=session,
            person="anna",
            session=session,
            day=day,
            start=start,
            device=None,
            labels={},
            item=TreeFile(tree, session),
            about=About(session=session),
        )
        samples = np.ones((3, round(25 * duration_s)))
        recording = Recording(samples=samples, rate_hz=25.0, session=session, start=start)
        return Loaded(entry=entry, recording=recording)

    return make


def sessions(recordings: tuple[Recording, ...]) -> list[str | None]:
    return [recording.session for recording in recordings]


def test_short_and_unreadable_recordings_are_left_out(load: Load) -> None:
    loaded = [load("1", duration_s=59.9), load("2", duration_s=60.0)]
    unread = Loaded(entry=loaded[0].entry, refusal="not a recording")

    chosen = choose_recordings([*loaded, unread])

    assert sessions(chosen) == ["2"]
    assert chosen[0].duration_s == 50.0


def test_the_first_ten_in_time_are_chosen(load: Load) -> None:
    loaded = [load(str(n), start=NOON - timedelta(days=n)) for n in range(13)]

    chosen = choose_recordings(loaded)

    assert sessions(chosen) == [str(n) for n in range(12, 2, -1)]


def test_without_a_time_the_number_of_the_session_decides(load: Load) -> None:
    loaded = [load(name, day=date(2025, 3, 1)) for name in ("s10", "s9", "s100")]
    loaded.append(load("s1", day=date(2025, 3, 2)))

    chosen = choose_recordings(loaded)

    assert sessions(chosen) == ["s9", "s10", "s100", "s1"]


def test_both_ends_are_cut_with_their_gaps() -> None:
    received = np.arange(7000) != 600
    recording = Recording(
        samples=np.tile(np.arange(7000.0), (3, 1)), rate_hz=100.0, received=received
    )

    cut = cut_ends(recording)

    assert (cut.samples[0, 0], cut.samples[0, -1]) == (500.0, 6499.0)
    assert np.flatnonzero(~cut.received).tolist() == [100]


def test_nobody_takes_part_without_a_recording() -> None:
    with pytest.raises(SignalError, match="anna takes part without"):
        Participant(name="anna", recordings=())
