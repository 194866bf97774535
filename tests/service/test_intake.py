"""Frames fit the connection that they were made for, and nothing else is taken."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.live.chunks import Break, Chunk
from acclock.service.metrics import Metrics
from acclock.service.refusals import RefusedError
from acclock.service.streams.connection import FrameReader
from acclock.sources.frames import encode


def frame(sequence: int) -> bytes:
    return encode(np.ones((3, 5)), sequence=sequence, time_us=1, period_us=10_000)


@given(
    st.lists(st.integers(0, 3), max_size=30),
    st.sampled_from([0, 7, 2**32 - 5, 2**31]),
)
def test_each_number_is_taken_once_in_order_whatever_is_lost(gaps: list[int], first: int) -> None:
    intake = FrameReader(Metrics())
    intake.first = intake._next = first
    numbers = [(first + ahead) % 2**32 for ahead in np.cumsum([0, *[1 + gap for gap in gaps]])]

    taken = [intake.read(frame(number)) for number in numbers]
    again = [intake.read(frame(number)) for number in numbers[-5:]]

    assert all(isinstance(piece, Chunk) for piece in taken)
    assert [piece.lost for piece in taken[1:] if isinstance(piece, Chunk)] == [5 * g for g in gaps]
    assert again == [None] * len(again)


def test_frames_of_another_connection_are_refused() -> None:
    one, other = FrameReader(Metrics()), FrameReader(Metrics())
    one.first = one._next = 1_000
    other.first = other._next = 3_000_000_000

    one.read(frame(1_000))

    with pytest.raises(RefusedError, match="another connection"):
        other.read(frame(1_001))


def test_no_two_connections_share_a_nonce_or_a_start() -> None:
    intakes = [FrameReader(Metrics()) for _ in range(100)]

    assert len({one.nonce for one in intakes}) == 100
    assert len({one.first for one in intakes}) == 100


def test_garbage_is_a_break_and_too_much_of_it_ends_the_stream() -> None:
    intake = FrameReader(Metrics())

    pieces = [intake.read(b"ACLK what is this") for _ in range(9)]

    assert all(isinstance(piece, Break) and piece.reason == "garbage" for piece in pieces)
    with pytest.raises(RefusedError, match="cannot be read"):
        intake.read("{}")


def stamped() -> bytes:
    """A frame whose samples have times of their own."""
    header = struct.pack("<4sBBHIQIf", b"ACLK", 1, 1, 5, 0, 1, 0, 1.0)
    return header + np.arange(5, dtype="<u4").tobytes() + np.ones(15, "<f4").tobytes()


GOOD = (
    frame(0),
    encode(np.ones((3, 5)), sequence=0, time_us=1, period_us=10_000, scale=0.01),
    stamped(),
    b'{"sequence": 0, "time_us": 1, "period_us": 10000, "samples": [[1, 2.5, -3e2], [0, 0, 0]]}',
    b'{"sequence": 0, "time_us": 1, "offsets_us": [0, 7], "samples": [[1, 2, 3], [4, 5, 6]]}',
)


def bombard(count: int) -> int:
    """Give how many of so many damaged frames were refused; anything else is raised."""
    rng = np.random.default_rng(5)
    refused = 0
    for turn in range(count):
        bad = bytearray(GOOD[turn % len(GOOD)])
        for place in rng.integers(0, len(bad), rng.integers(1, 6)).tolist():
            bad[place] = int(rng.integers(256))
        cut = bytes(bad[: int(rng.integers(1, 2 * len(bad)))])
        intake = FrameReader(Metrics())
        intake.first = intake._next = 0  # or all of them would be another connection's
        try:
            piece = intake.read(cut.decode("latin-1") if turn % 2 else cut)
        except RefusedError:
            refused += 1
            continue
        refused += isinstance(piece, Break)
        if isinstance(piece, Chunk):
            assert piece.samples.shape == (3, piece.count)
            assert piece.stamps_s.shape == (piece.count,)
    return refused


def test_damaged_frames_are_refused_or_taken_and_never_fail() -> None:
    assert 1_500 < bombard(3_000) < 2_900


@pytest.mark.slow
def test_a_million_damaged_frames_are_refused_or_taken_and_never_fail() -> None:
    assert 500_000 < bombard(1_000_000) < 970_000
