"""Samples must come as fast as time passes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.live.answers import Reason
from acclock.live.chunks import StreamPace, keep_pace

RATE_HZ = 100.0


def follow(
    chunks: list[tuple[float, int]], *, received: bool = True
) -> tuple[StreamPace | None, Reason | None]:
    """Follow chunks, each with the time that passed before it and how many samples it holds."""
    pace, now_s, wrong = None, 0.0, None
    for passed_s, count in chunks:
        now_s += passed_s
        pace, wrong = keep_pace(
            pace, np.full(count, received), rate_hz=RATE_HZ, now_s=now_s, stall_s=1.0
        )
        if wrong is not None:
            break
    return pace, wrong


@given(st.lists(st.integers(1, 80), min_size=1, max_size=60), st.floats(0.985, 1.015))
def test_a_steady_source_is_timely_however_it_is_cut(counts: list[int], drift: float) -> None:
    chunks = [(drift * count / RATE_HZ, count) for count in counts]

    assert follow(chunks)[1] is None


def test_a_clock_that_drifts_is_followed_for_a_day() -> None:
    pace, wrong = follow([(0.5 * 1.0002, 50)] * (2 * 86400 // 10))

    assert wrong is None
    assert pace is not None
    assert pace.lag_s == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(
    ("chunks", "reason"),
    [
        ([(0.0, 50), (1.1, 50)], Reason.STALLED),
        ([(0.0, 50), (-0.1, 50)], Reason.CLOCK),
        ([(0.0, 50)] + [(0.05, 50)] * 10, Reason.CLOCK),  # ten times the rate
        ([(0.0, 50)] + [(0.9, 50)] * 10, Reason.STALE),  # an ever longer backlog
    ],
)
def test_bad_timing_has_a_name(chunks: list[tuple[float, int]], reason: Reason) -> None:
    assert follow(chunks)[1] is reason


@pytest.mark.parametrize(("lost", "reason"), [(90, None), (110, Reason.GAP)])
@pytest.mark.parametrize("size", [10, 25, 50])
def test_a_gap_counts_across_chunks(lost: int, reason: Reason | None, size: int) -> None:
    received = np.ones(400, dtype=bool)
    received[95 : 95 + lost] = False

    pace, found = None, []
    for start in range(0, 400, size):
        now_s = (start + size) / RATE_HZ
        pace, wrong = keep_pace(
            pace, received[start : start + size], rate_hz=RATE_HZ, now_s=now_s, stall_s=1.0
        )
        found.append(wrong)

    assert next(filter(None, found), None) is reason


def test_nothing_received_is_a_gap() -> None:
    assert follow([(0.5, 50)] * 5, received=False)[1] is Reason.GAP
