import io
import json
import zipfile
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import AccLockError, UnreadableError, UnwritableError
from acclock.recordings import inspect, read, read_extras, write
from acclock.values import FloatArray, Recording

TEXTS = st.none() | st.text(max_size=8)


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(0, 300),
    rate_hz=st.sampled_from([25.0, 100.0, 73.49]),
    start=st.none() | st.datetimes(timezones=st.just(timezone(timedelta(hours=-5)))),
    person=TEXTS,
    ear=st.sampled_from([None, "left", "right"]),
    labels=st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3),
)
def test_a_recording_comes_back_as_it_was(  # noqa: PLR0913
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    count: int,
    rate_hz: float,
    start: datetime | None,
    person: str | None,
    ear: None,
    labels: dict[str, str],
) -> None:
    generator = np.random.default_rng(seed)
    recording = Recording(
        samples=generator.normal(size=(3, count)),
        rate_hz=rate_hz,
        sampled_hz=None if seed % 2 else rate_hz / 2,
        received=generator.random(count) > 0.1,
        start=start,
        person=person,
        session=person,
        device="a bud",
        ear=ear,
        labels=labels,
    )
    path = tmp_path_factory.mktemp("own") / "r.npz"

    write(recording, path)
    again = read(path)

    np.testing.assert_array_equal(again.samples, recording.samples)
    np.testing.assert_array_equal(again.received, recording.received)
    for name in ("rate_hz", "sampled_hz", "start", "person", "session", "device", "ear", "labels"):
        assert getattr(again, name) == getattr(recording, name)


@pytest.fixture
def stored(tmp_path: Path, motion: FloatArray) -> Path:
    received = np.ones(1000, dtype=bool)
    received[300:350] = False
    recording = Recording(samples=motion, rate_hz=100.0, received=received, start=datetime.now(UTC))
    write(recording, tmp_path / "r.npz", extras={"truth": motion[2], "beats": np.array([1.0, 2.0])})
    return tmp_path / "r.npz"


def test_what_lies_beside_a_recording_comes_back(stored: Path, motion: FloatArray) -> None:
    extras = read_extras(stored)

    assert set(extras) == {"truth", "beats"}
    np.testing.assert_array_equal(extras["truth"], motion[2])


def test_a_reading_of_our_own_says_what_it_is(stored: Path) -> None:
    reading = inspect(stored, rate_hz=50.0)

    assert (reading.format, reading.unit, reading.gravity) == ("AccLock recording", "m/s²", True)
    assert reading.native_rate_hz == 100.0
    assert reading.gaps[0].length_s == pytest.approx(0.5)
    assert np.flatnonzero(~reading.recording.received).tolist() == list(range(150, 175))


def test_what_was_sampled_rarely_says_so_at_any_rate(tmp_path: Path, motion: FloatArray) -> None:
    write(Recording(samples=motion, rate_hz=50.0), tmp_path / "rare.npz")
    write(read(tmp_path / "rare.npz", rate_hz=100.0), tmp_path / "often.npz")

    again = read(tmp_path / "often.npz")

    assert (again.rate_hz, again.native_rate_hz) == (100.0, 50.0)


def test_nothing_is_left_when_writing_fails(tmp_path: Path, motion: FloatArray) -> None:
    recording = Recording(samples=motion, rate_hz=100.0)

    with pytest.raises(UnwritableError):
        write(recording, tmp_path / "missing" / "r.npz")
    with pytest.raises(UnwritableError, match="plain name"):
        write(recording, tmp_path / "r.npz", extras={"../x": motion[0]})

    assert list(tmp_path.iterdir()) == []


def rewrite(path: Path, name: str, content: bytes) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for member, old in members.items():
            archive.writestr(member, content if member == name else old)


def array(values: object, *, pickled: bool = False) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(values, dtype=object if pickled else None), allow_pickle=pickled)
    return file.getvalue()


def header(**changes: object) -> bytes:
    fields = dict.fromkeys(("start", "person", "session", "device", "ear"))
    content = {"version": 1, "rate_hz": 100.0, "labels": {}, **fields, **changes}
    return array(np.frombuffer(json.dumps(content).encode(), np.uint8))


@pytest.mark.parametrize(
    ("member", "content"),
    [
        ("samples.npy", b""),
        ("samples.npy", b"\x93NUMPY"),
        ("samples.npy", array(np.zeros((3, 1000)))[:-8]),
        ("samples.npy", array(np.zeros((3, 1000))).replace(b"1000", b"9**9")),
        ("samples.npy", array(np.zeros((3, 1000))).replace(b"(3, 1000)", b"(9999999999999,)")),
        ("samples.npy", array(np.zeros((2, 1000)))),
        ("samples.npy", array(np.full((3, 1000), np.nan))),
        ("samples.npy", array(["x"] * 3000, pickled=True)),
        ("samples.npy", array(np.zeros((3, 1000), dtype=np.float32))),
        ("received.npy", array(np.ones(7, dtype=bool))),
        ("acclock.npy", array(np.frombuffer(b"{}", np.uint8))),
        ("acclock.npy", header(version=2)),
        ("acclock.npy", header(rate_hz=-1.0)),
        ("acclock.npy", header(rate_hz="fast")),
        ("acclock.npy", header(start="yesterday")),
        ("acclock.npy", header(start="2024-01-01T00:00:00")),
        ("acclock.npy", header(labels=[1])),
        ("acclock.npy", header(ear="third")),
    ],
)
def test_what_acclock_would_not_write_is_refused(stored: Path, member: str, content: bytes) -> None:
    rewrite(stored, member, content)

    with pytest.raises(UnreadableError):
        read(stored)


@given(at=st.integers(0, 60_000), value=st.integers(0, 255))
def test_a_flipped_byte_never_brings_the_reader_down(
    tmp_path_factory: pytest.TempPathFactory, at: int, value: int
) -> None:
    path = tmp_path_factory.mktemp("flip") / "r.npz"
    write(Recording(samples=np.random.default_rng(0).normal(size=(3, 100)), rate_hz=100.0), path)
    data = bytearray(path.read_bytes())
    data[at % len(data)] = value
    path.write_bytes(data)

    try:
        recording = read(path)
    except AccLockError:
        return

    assert recording.rate_hz == 100.0
