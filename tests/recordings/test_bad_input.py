import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import AccLockError, TooShortError, UnreadableError
from acclock.recordings import Columns, inspect, open_dataset, read, write
from acclock.values import FloatArray

TIMES = [f"{n / 100:.2f}" for n in range(1000)]
STILL = ["0.1,5.88,7.84", "0.1,5.89,7.83", "0.11,5.87,7.84"]


def lines(times: list[str] = TIMES, header: str = "t,x,y,z", rows: list[str] = STILL) -> str:
    """Give a table in which the axes take turns in small changes."""
    body = [f"{time},{rows[n % len(rows)]}" for n, time in enumerate(times)]
    return "\n".join([header, *body]) + "\n"


def changed(row: int, text: str) -> str:
    broken = lines().splitlines()
    broken[row] = text
    return "\n".join(broken)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "the file is empty; a recording is needed"),
        ("  \n\n", "the file is empty"),
        (np.random.default_rng(0).bytes(4000), "neither text with a row of column names nor"),
        ("dear diary\ntoday was nice\n", "neither text with a row of column names nor"),
        ("t,x,y,z\n", "column names, but no rows"),
        ("t,x,y\n0,1,2\n", "no column for acceleration along z was found among t, x, y"),
        (lines(header="a,x,y,z"), "no column of time was found among a, x, y, z"),
        (changed(7, "0.06,0.1,nan,7.8"), "sample 7 is not a finite number"),
        (changed(7, "0.06,0.1,-inf,7.8"), "sample 7 is not a finite number"),
        (changed(7, "0.06,0.1,,7.8"), "sample 7 is not a finite number"),
        (changed(7, "nan,0.1,5.8,7.8"), "some time stamps are not finite"),
        (changed(7, "0.06,0.1,oops,7.8"), "line 8 has no number in column 'y'"),
        (changed(7, "0.06,0.1"), "line 8 has no number in column 'y'"),
        (changed(7, "0.06,0.1,1e30,7.8"), "not acceleration that a body makes"),
        (lines(rows=STILL[:1]), "the signal is constant"),
        (lines(TIMES[:500] + TIMES), "time runs backwards at sample 501"),
        (lines(sorted(TIMES * 2)), "1000 time stamps are duplicated"),
        (lines(["0.00"] * 1000), "999 time stamps are duplicated"),
        (lines(TIMES[:50]), r"lasts 0\.5 s; this needs at least 1\.0 s"),
        (lines([str(1_700_000_000 + n) for n in range(99)]), "1 Hz cannot be used"),
        (lines([str(n) for n in range(99)]), "the unit of time cannot be told from steps of 1"),
        (lines(rows=["0.1,0.2,0.1", "0.2,0.1,0.1"]), "the unit cannot be told"),
    ],
)
def test_a_file_that_cannot_be_used_gets_one_sentence(
    tmp_path: Path, content: str | bytes, sentence: str
) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(AccLockError, match=sentence) as refusal:
        read(path)

    said = str(refusal.value)
    assert said.startswith(str(path))
    assert "\n" not in said
    assert "Error" not in said


def test_three_seconds_are_read_and_said_to_be_short(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(lines(TIMES[:300]))

    reading = inspect(path)

    assert "it lasts 3.0 s, less than two windows of 4 s" in reading.notes


def test_too_short_says_how_much_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(lines(TIMES[:50]))

    with pytest.raises(TooShortError) as refusal:
        read(path)

    assert refusal.value.have_s == pytest.approx(0.49)
    assert refusal.value.need_s == 1.0


@pytest.mark.parametrize("rate_hz", [0.0, -1.0, 9.9, 1e9, float("nan"), float("inf")])
def test_a_rate_that_cannot_be_made_is_refused(tmp_path: Path, rate_hz: float) -> None:
    (tmp_path / "r.csv").write_text(lines())

    with pytest.raises(AccLockError, match="must lie between 10 and 8000 Hz"):
        read(tmp_path / "r.csv", rate_hz=rate_hz)


@pytest.mark.parametrize("value", [0.0, -5.0, float("inf"), float("nan")])
def test_a_column_override_must_make_sense(value: float) -> None:
    with pytest.raises(AccLockError, match="must be positive"):
        Columns(sampled_hz=value)


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    for use in (read, inspect, open_dataset):
        with pytest.raises(UnreadableError, match="does not exist"):
            use(tmp_path / "nothing.csv")
    with pytest.raises(UnreadableError, match="does not exist"):
        read(f"{tmp_path}/nothing.zip::inner.csv")
    with pytest.raises(UnreadableError, match="neither a file nor a folder"):
        read(os.devnull)


def forbid(*_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_a_refusal_of_the_disk_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.csv"
    path.write_text(lines())
    monkeypatch.setattr(Path, "open", forbid)

    with pytest.raises(UnreadableError, match="cannot be read: Permission denied"):
        read(path)


def test_a_folder_without_recordings(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("nothing here\n")

    for use in (read, open_dataset):
        with pytest.raises(UnreadableError, match="no recording was found in"):
            use(tmp_path)


def test_many_recordings_are_not_one(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(lines())

    with pytest.raises(
        UnreadableError, match=r"holds 2 recordings; open it as a data set, or name"
    ):
        read(tmp_path)


def test_one_recording_is_not_a_data_set(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(lines())

    with pytest.raises(UnreadableError, match="is one recording"):
        open_dataset(tmp_path / "a.csv")


@pytest.fixture
def zipped(tmp_path: Path) -> Callable[..., Path]:
    def make(members: dict[str, str | bytes], *, packed: bool = True) -> Path:
        method = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        with zipfile.ZipFile(tmp_path / "r.zip", "w", method) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return tmp_path / "r.zip"

    return make


def test_a_zip_that_is_cut_off(zipped: Callable[..., Path]) -> None:
    path = zipped({"a.csv": lines()})
    path.write_bytes(path.read_bytes()[:-40])

    with pytest.raises(UnreadableError, match="cut off or damaged"):
        read(path)


def test_a_zip_with_damaged_content(zipped: Callable[..., Path]) -> None:
    path = zipped({"a.csv": lines()})
    data = bytearray(path.read_bytes())
    data[200:260] = bytes(60)
    path.write_bytes(data)

    with pytest.raises(UnreadableError, match="damaged"):
        read(path)


def test_an_empty_zip(zipped: Callable[..., Path]) -> None:
    with pytest.raises(UnreadableError, match="no recording was found"):
        read(zipped({}))


def test_a_zip_bomb_is_not_inflated(zipped: Callable[..., Path]) -> None:
    path = zipped({"a.csv": lines() + " " * 50_000_000})

    with pytest.raises(UnreadableError, match=r"would grow \d+ times when unpacked"):
        read(path)


@pytest.mark.parametrize(
    "name", ["../a.csv", "x/../../a.csv", "/etc/a.csv", "C:\\a.csv", "..\\a.csv"]
)
def test_a_path_that_climbs_out_of_an_archive(zipped: Callable[..., Path], name: str) -> None:
    with pytest.raises(UnreadableError, match="leads out of its folder"):
        read(zipped({name: lines()}))


def test_a_name_that_is_not_in_the_archive(zipped: Callable[..., Path]) -> None:
    path = zipped({"a.csv": lines()})

    with pytest.raises(UnreadableError, match=r"holds no file '\.\./a\.csv'"):
        read(f"{path}::../a.csv")
    assert len(read(f"{path}::a.csv")) == 1000


def test_a_link_out_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside.csv").write_text(lines())
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "in.csv").symlink_to(tmp_path / "outside.csv")

    with pytest.raises(UnreadableError, match="no recording was found"):
        open_dataset(tmp_path / "folder")


FUZZED = {
    "plain": lines(),
    "headphone": lines(header="seconds_elapsed,accelerationX,accelerationY,accelerationZ"),
    "metawear": lines(header="elapsed (s),x-axis (g),y-axis (g),z-axis (g)").replace(
        "elapsed (s)", "epoch (ms),elapsed (s)", 1
    ),
    "muse": "Log Freq\tTimestamp\tAccX\tAccY\tAccZ\n" + "100\t1555487493\t1\t2\t999\n" * 300,
    "esense": lines(header="packetIndex,accX,accY,accZ"),
    "oe": "\x02\x00" + "\x00" * 8 + "\x07\x06" + "\x00" * 8 + "abcdef" * 3,
    "hex": "55 07 ac 0c 00 00 00 00 00 00 00 00 00 80 20 00\n" * 30,
}
EDITS = st.lists(
    st.tuples(st.integers(0, 30_000), st.sampled_from(["replace", "delete", "insert", "cut"]),
              st.binary(min_size=1, max_size=4)),
    max_size=5,
)  # fmt: skip


@given(kind=st.sampled_from(sorted(FUZZED)), edits=EDITS)
def test_no_damage_brings_a_reader_down_or_changes_the_rate(
    tmp_path_factory: pytest.TempPathFactory, kind: str, edits: list[tuple[int, str, bytes]]
) -> None:
    data = bytearray(FUZZED[kind].encode("latin-1"))
    for at, how, new in edits:
        place = at % max(len(data), 1)
        if how == "cut":
            del data[place:]
        elif how == "insert":
            data[place:place] = new
        else:
            data[place : place + len(new)] = new if how == "replace" else b""
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_bytes(data)

    try:
        reading = inspect(path, columns=Columns(sampled_hz=100.0) if kind == "esense" else None)
    except AccLockError:
        return

    assert reading.recording.rate_hz == 100.0


@given(data=st.binary(max_size=2000))
def test_no_bytes_bring_a_reader_down(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("noise") / "file"
    path.write_bytes(data)

    with pytest.raises(AccLockError):
        read(path)


@given(
    rate_hz=st.floats(12.0, 500.0),
    digits=st.integers(4, 9),
    loss=st.floats(0.0, 0.2),
    seed=st.integers(0, 999),
)
def test_the_rate_of_a_table_is_right_or_refused(
    tmp_path_factory: pytest.TempPathFactory, rate_hz: float, digits: int, loss: float, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    kept = np.flatnonzero(generator.random(800) >= loss)
    rows = [
        f"{n / rate_hz:.{digits}f},{x:.4f},{y:.4f},9.8"
        for n, (x, y) in zip(kept, generator.normal(size=(kept.size, 2)), strict=True)
    ]
    path = tmp_path_factory.mktemp("rate") / "r.csv"
    path.write_text("\n".join(["t,x,y,z", *rows]))

    try:
        reading = inspect(path)
    except AccLockError:
        return

    assert reading.native_rate_hz == pytest.approx(rate_hz, rel=0.015)
    lasted_s = (kept[-1] - kept[0]) / rate_hz
    assert reading.recording.duration_s == pytest.approx(lasted_s, abs=2 / rate_hz + 0.02)


def test_a_refused_recording_leaves_nothing_behind(tmp_path: Path, motion: FloatArray) -> None:
    (tmp_path / "r.csv").write_text("t,x,y\n0,1,2\n")

    with pytest.raises(AccLockError):
        write(read(tmp_path / "r.csv"), tmp_path / "r.npz")

    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]
