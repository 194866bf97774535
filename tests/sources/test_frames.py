"""A frame is read as it was written, and nothing else is a frame."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acclock.live.chunks import Break, Chunk
from acclock.sources.frames import LARGEST_BYTES, MAGIC, FrameError, decode, encode
from acclock.sources.messages import Reader
from acclock.sources.source import Faults

HEADER = struct.Struct("<4sBBHIQIf")
Values = st.lists(st.tuples(*[st.floats(-160.0, 160.0, width=32)] * 3), min_size=1, max_size=40)


@given(
    values=Values,
    sequence=st.integers(0, 2**32 - 1),
    time_us=st.integers(0, 2**53),
    period_us=st.integers(1, 2**32 - 1),
)
def test_a_frame_is_read_as_it_was_written(
    values: list[tuple[float, float, float]], sequence: int, time_us: int, period_us: int
) -> None:
    samples = np.array(values).T

    frame = decode(encode(samples, sequence=sequence, time_us=time_us, period_us=period_us))

    assert frame.sequence == sequence
    np.testing.assert_array_equal(frame.samples, samples)
    due_s = (time_us + np.arange(len(values)) * period_us) * 1e-6
    np.testing.assert_allclose(frame.stamps_s, due_s)


@given(values=Values)
def test_int16_is_off_by_at_most_half_a_count(values: list[tuple[float, float, float]]) -> None:
    samples, scale = np.array(values).T, 0.005

    frame = decode(encode(samples, sequence=0, time_us=0, period_us=1, scale=scale))

    assert np.abs(frame.samples - samples).max() <= scale / 2 * 1.01


def test_samples_may_bring_their_own_times() -> None:
    head = HEADER.pack(MAGIC, 1, 0, 2, 9, 1_000_000, 0, 0.5)

    frame = decode(head + struct.pack("<2I6h", 0, 12_345, 1, 2, 3, 4, 5, 6))

    assert frame.stamps_s.tolist() == [1.0, 1.012345]
    assert frame.samples.tolist() == [[0.5, 2.0], [1.0, 2.5], [1.5, 3.0]]


def test_json_says_the_same() -> None:
    message = {"sequence": 3, "time_us": 2_000_000, "samples": [[1, 2.5, 3], [4, 5, 6]]}

    even = decode(json.dumps(message | {"period_us": 10_000}))
    uneven = decode(json.dumps(message | {"offsets_us": [0, 11_000]}).encode())

    assert (even.sequence, even.stamps_s.tolist()) == (3, [2.0, 2.01])
    assert uneven.stamps_s.tolist() == [2.0, 2.011]
    assert even.samples.tolist() == uneven.samples.tolist() == [[1, 4], [2.5, 5], [3, 6]]


GOOD = encode(np.ones((3, 2)), sequence=0, time_us=0, period_us=1)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        MAGIC,
        GOOD[:-1],
        GOOD + b"!",
        b"ACLX" + GOOD[4:],
        GOOD[:4] + b"\x02" + GOOD[5:],
        GOOD[:5] + b"\x07" + GOOD[6:],
        HEADER.pack(MAGIC, 1, 0, 0, 0, 0, 1, 1.0),
        HEADER.pack(MAGIC, 1, 0, 65535, 0, 0, 1, 1.0) + bytes(65535 * 6),
        HEADER.pack(MAGIC, 1, 0, 1, 0, 2**64 - 1, 1, 1.0) + bytes(6),
        HEADER.pack(MAGIC, 1, 0, 1, 0, 0, 1, float("nan")) + bytes(6),
        HEADER.pack(MAGIC, 1, 0, 1, 0, 0, 1, -1.0) + bytes(6),
        "[" * 100_000,
        "x" * (LARGEST_BYTES + 1),
        "null",
        "{}",
        '{"sequence": 0, "time_us": 0, "period_us": 1, "samples": [[1, 2]]}',
        '{"sequence": 0, "time_us": 0, "period_us": 1, "samples": [[NaN, 1, 2]]}',
        '{"sequence": 0, "time_us": 0, "period_us": 1, "samples": [[1e999, 1, 2]]}',
        '{"sequence": 0, "time_us": 0, "period_us": 1, "samples": [[true, 1, 2]]}',
        '{"sequence": -1, "time_us": 0, "period_us": 1, "samples": [[0, 1, 2]]}',
        '{"sequence": 0, "time_us": 0.5, "period_us": 1, "samples": [[0, 1, 2]]}',
        '{"sequence": 0, "time_us": 0, "samples": [[0, 1, 2]]}',
        '{"sequence": 0, "time_us": 0, "offsets_us": [1, 2], "samples": [[0, 1, 2]]}',
        f'{{"sequence": {"9" * 5000}, "time_us": 0, "period_us": 1, "samples": [[0, 1, 2]]}}',
    ],
    ids=range(25),
)
def test_anything_else_is_refused(data: bytes | str) -> None:
    with pytest.raises(FrameError):
        decode(data)


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
)
Named = st.fixed_dictionaries(
    {},
    optional={
        "sequence": Json, "time_us": Json, "period_us": Json, "samples": Json, "offsets_us": Json,
        "sessionId": Json, "messageId": Json,
        "payload": Json | st.lists(
            st.fixed_dictionaries(
                {"name": st.sampled_from(["headphone", "accelerometer", "x"])},
                optional={"time": Json | st.integers(0, 2**62), "values": Json},
            )
        ),
    },
)  # fmt: skip


@settings(max_examples=80)
@given(st.lists(st.one_of(
    st.binary(max_size=60), st.binary(max_size=60).map(lambda data: GOOD[:28] + data),
    st.text(max_size=30), Json.map(json.dumps), Named.map(json.dumps),
), max_size=6))  # fmt: skip
def test_no_message_makes_a_reader_raise(messages: list[bytes | str]) -> None:
    reader = Reader(Faults())

    pieces = [piece for data in messages for piece in reader.read(data, 1.0)]

    assert all(isinstance(piece, Chunk | Break) for piece in pieces)


def test_frames_that_are_lost_late_or_repeated_are_counted() -> None:
    faults = Faults()
    reader = Reader(faults)
    numbers = [2**32 - 2, 2**32 - 1, 0, 0, 3, 2, 4]

    pieces = [
        piece
        for number in numbers
        for piece in reader.read(
            encode(np.ones((3, 5)), sequence=number, time_us=0, period_us=1), 1.0
        )
    ]

    assert [piece.lost for piece in pieces if isinstance(piece, Chunk)] == [0, 0, 0, 10, 0]
    assert faults == {"lost frame": 2, "repeated frame": 1, "late frame": 1}


def test_any_bytes_are_samples_even_a_signaling_nan() -> None:
    good = bytearray(encode(np.ones((3, 4)), sequence=0, time_us=0, period_us=10_000))
    good[-4:] = (0x7FA00000).to_bytes(4, "little")

    samples = decode(bytes(good)).samples

    assert np.isnan(samples[2, 3])
    assert np.isfinite(samples).sum() == 11
