import shutil
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from acclock.errors import AccLockError, UnreadableError
from acclock.recordings import Columns, inspect, read
from acclock.values import STANDARD_GRAVITY, FloatArray

WriteTable = Callable[..., Path]
TIMES_S = np.arange(1000) / 100.0


def table(samples: FloatArray, **named: FloatArray) -> dict[str, FloatArray]:
    return {**named, **dict(zip(("x", "y", "z"), samples, strict=True))}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    ("time", "ticks_per_s"),
    [("t", 1.0), ("time_ms", 1e3), ("timestamp", 1e3), ("Time (us)", 1e6), ("elapsed [s]", 1.0)],
)
def test_a_plain_table_is_read(
    write_table: WriteTable, motion: FloatArray, delimiter: str, time: str, ticks_per_s: float
) -> None:
    path = write_table("r.csv", table(motion, **{time: TIMES_S * ticks_per_s}), delimiter)

    reading = inspect(path)

    np.testing.assert_allclose(reading.recording.samples, motion)
    assert reading.recording.rate_hz == 100.0
    assert (reading.unit, reading.unit_source, reading.gravity) == ("m/s²", "detected", True)


def test_stamps_since_the_epoch_tell_the_start(write_table: WriteTable, motion: FloatArray) -> None:
    epoch_ms = np.array([1_700_000_000_000.0 + 10.0 * n for n in range(1000)])

    recording = read(write_table("r.csv", table(motion, timestamp=epoch_ms)))

    assert recording.start == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert recording.rate_hz == 100.0


@pytest.mark.parametrize(
    ("names", "unit", "source"),
    [
        (("accX [m/s^2]", "accY [m/s^2]", "accZ [m/s^2]"), "m/s²", "header"),
        (("acc_x (g)", "acc_y (g)", "acc_z (g)"), "g", "header"),
        (("ax", "ay", "az"), "m/s²", "detected"),
        (("Acceleration X", "Acceleration Y", "Acceleration Z"), "m/s²", "detected"),
    ],
)
def test_axes_and_units_are_read_off_the_header(
    write_table: WriteTable, motion: FloatArray, names: tuple[str, ...], unit: str, source: str
) -> None:
    values = motion / STANDARD_GRAVITY if unit == "g" else motion
    path = write_table("r.txt", {"t": TIMES_S, **dict(zip(names, values, strict=True))})

    reading = inspect(path)

    assert (reading.unit, reading.unit_source) == (unit, source)
    np.testing.assert_allclose(reading.recording.samples, motion)


def test_the_caller_names_columns_unit_and_rate(
    write_table: WriteTable, motion: FloatArray
) -> None:
    path = write_table("r.csv", dict(zip(("p", "q", "r"), motion / 9.80665e-3, strict=True)))

    columns = Columns(x="r", y="q", z="p", sampled_hz=100.0)
    reading = inspect(path, columns=columns, unit="mg")

    np.testing.assert_allclose(reading.recording.samples, motion[::-1])
    assert (reading.unit, reading.unit_source) == ("mg", "override")
    assert reading.native_rate_hz == 100.0


def test_another_rate_is_taken_when_asked_for(write_table: WriteTable, motion: FloatArray) -> None:
    path = write_table("r.csv", table(motion, t=TIMES_S))

    assert read(path, rate_hz=25.0).samples.shape == (3, 250)


def test_rows_written_twice_are_left_out_and_said_so(
    write_table: WriteTable, motion: FloatArray
) -> None:
    rows = np.insert(np.arange(1000), 500, 500)

    reading = inspect(write_table("r.csv", table(motion[:, rows], t=TIMES_S[rows])))

    np.testing.assert_allclose(reading.recording.samples, motion)
    assert "1 rows that repeat the one before are left out" in reading.notes


@pytest.fixture
def headphone(motion: FloatArray) -> dict[str, FloatArray | list[str]]:
    """Headphone.csv in g: columns in the app's order, which is not x, y, z."""
    user = motion - motion.mean(axis=1, keepdims=True)
    user *= 0.1 / STANDARD_GRAVITY / 0.3
    return {
        "time": [str(1_700_000_000_000_000_000 + n * 40_000_000) for n in range(1000)],
        "seconds_elapsed": np.arange(1000) * 0.04,
        "gravityZ": np.full(1000, 0.8),
        "gravityY": np.full(1000, 0.6),
        "gravityX": np.full(1000, 0.0),
        "accelerationZ": user[2],
        "accelerationY": user[1],
        "accelerationX": user[0],
        "devicelocation": ["headphoneright"] * 1000,
    }


def in_standard_units(
    headphone: dict[str, FloatArray | list[str]], *, acceleration: bool
) -> dict[str, FloatArray | list[str]]:
    """Bring gravity to m/s², as newer versions do always, and acceleration as the setting says."""
    changed = {name for name in headphone if name.startswith("gravity")}
    if acceleration:
        changed |= {name for name in headphone if name.startswith("acceleration")}
    return {
        name: np.asarray(values, dtype=float) * STANDARD_GRAVITY if name in changed else values
        for name, values in headphone.items()
    }


def test_airpods_through_sensor_logger(
    write_table: WriteTable, headphone: dict[str, FloatArray | list[str]]
) -> None:
    reading = inspect(write_table("Headphone.csv", headphone))

    assert reading.format == "Sensor Logger Headphone.csv"
    assert (reading.unit, reading.gravity) == ("g", False)
    assert (reading.recording.rate_hz, reading.recording.ear) == (25.0, "right")
    assert reading.recording.duration_s == pytest.approx(39.0, abs=0.1)
    assert reading.recording.start == datetime(2023, 11, 14, 22, 13, 21, tzinfo=UTC)
    expected = np.asarray(headphone["accelerationX"], dtype=float)[25:] * STANDARD_GRAVITY
    np.testing.assert_allclose(reading.recording.samples[0], expected)


@pytest.mark.parametrize("standardized", [True, False])
def test_the_metadata_of_an_export_tells_the_unit(
    write_table: WriteTable,
    headphone: dict[str, FloatArray | list[str]],
    tmp_path: Path,
    standardized: bool,
) -> None:
    columns = in_standard_units(headphone, acceleration=standardized)
    write_table("export/Headphone.csv", columns)
    write_table(
        "export/Metadata.csv",
        {"device name": ["iPhone 15"], "standardisation": [str(standardized).lower()]},
    )
    write_table("export/Gyroscope.csv", {"time": [1], "seconds_elapsed": [0], "x": [0], "y": [0]})
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for path in (tmp_path / "export").iterdir():
            archive.write(path, path.name)

    zipped, folder = inspect(tmp_path / "export.zip"), inspect(tmp_path / "export")

    assert zipped.unit == folder.unit == ("m/s²" if standardized else "g")
    assert zipped.recording.labels["phone"] == "iPhone 15"
    np.testing.assert_array_equal(zipped.recording.samples, folder.recording.samples)


@pytest.mark.parametrize(("acceleration", "unit"), [(True, "m/s²"), (False, "g")])
def test_without_metadata_the_stillest_second_tells_the_unit(
    write_table: WriteTable,
    headphone: dict[str, FloatArray | list[str]],
    acceleration: bool,
    unit: str,
) -> None:
    columns = in_standard_units(headphone, acceleration=acceleration)

    reading = inspect(write_table("Headphone.csv", columns))

    assert reading.unit == unit
    assert any("the stillest second moves" in note for note in reading.notes)


def test_a_gyroscope_is_not_taken_for_acceleration(
    write_table: WriteTable, motion: FloatArray
) -> None:
    path = write_table("Gyroscope.csv", table(motion, seconds_elapsed=TIMES_S))

    with pytest.raises(UnreadableError, match=r"not acceleration; Accelerometer\.csv is needed"):
        read(path)


def test_open_earable_1_is_put_in_order_of_time(
    write_table: WriteTable, motion: FloatArray
) -> None:
    stamps_ms = 9_500 + np.arange(1000) * 10
    as_words = np.argsort(stamps_ms.astype(str), kind="stable")
    columns: dict[str, FloatArray | list[str]] = {"time": [str(ms) for ms in stamps_ms[as_words]]}
    columns |= {f"sensor_acc{a}[m/s]": row[as_words] for a, row in zip("XYZ", motion, strict=True)}
    columns["sensor_pressure[hPa]"] = [""] * 1000
    path = write_table("recording.csv", columns)
    path.write_text(path.read_text() + "19501,,,,1013.2\n")

    reading = inspect(path)

    assert reading.format == "OpenEarable 1 CSV"
    np.testing.assert_allclose(reading.recording.samples, motion)
    assert "rows were not in order of time: sorted" in reading.notes


def test_esense_counts_its_packets(write_table: WriteTable, motion: FloatArray) -> None:
    lost = slice(300, 340)
    arrivals_ms = 1_700_000_000_000 + np.arange(1000) // 5 * 50
    counts = np.rint(motion / STANDARD_GRAVITY * 8192)
    columns = {"timestamp": arrivals_ms, "packetIndex": np.arange(1000) % 256}
    columns |= dict(zip(("accX", "accY", "accZ"), counts, strict=True))
    path = write_table("esense.txt", {n: np.delete(c, lost) for n, c in columns.items()})

    reading = inspect(path)

    assert reading.format == "eSense text"
    assert reading.recording.rate_hz == 100.0
    assert reading.gaps[0].length_s == pytest.approx(0.4, abs=0.01)
    np.testing.assert_allclose(reading.recording.samples[:, :250], motion[:, :250], atol=0.02)


@pytest.mark.parametrize("stamped", [True, False])
def test_esense_packets_as_hexadecimal_text(
    tmp_path: Path, motion: FloatArray, stamped: bool
) -> None:
    lines = []
    for n, sample in enumerate(np.rint(motion.T / STANDARD_GRAVITY * 8192).astype(int)):
        body = bytes([12]) + b"".join(int(v).to_bytes(2, "big", signed=True) for v in (1, 2, 3))
        body += b"".join(int(v).to_bytes(2, "big", signed=True) for v in sample)
        packet = bytes([0x55, n % 256, sum(body) % 256]) + body
        lines.append(f"{n * 10} " * stamped + packet.hex(" "))
    lines[500] = lines[500][:-2] + "00"
    (tmp_path / "packets.txt").write_text("\n".join(lines))

    columns = None if stamped else Columns(sampled_hz=100.0)
    recording = read(tmp_path / "packets.txt", columns=columns)

    assert np.flatnonzero(~recording.received).tolist() == [500]
    np.testing.assert_allclose(recording.samples[:, :499], motion[:, :499], atol=1e-3)
    if not stamped:
        with pytest.raises(AccLockError, match="say the rate"):
            read(tmp_path / "packets.txt")


def test_muse_counts_time_from_its_rate(write_table: WriteTable, motion: FloatArray) -> None:
    seconds = 1_555_487_716 + np.arange(1000) // 100
    seconds[:14] -= 222
    columns = {"Log Mode": np.full(1000, 5), "Log Freq": np.full(1000, 100), "Timestamp": seconds}
    columns |= dict(zip(("AccX", "AccY", "AccZ"), motion / STANDARD_GRAVITY * 1000, strict=True))

    reading = inspect(write_table("log.txt", columns, "\t"))

    assert (reading.format, reading.unit) == ("MuSe text", "mg")
    np.testing.assert_allclose(reading.recording.samples, motion[:, 14:])
    assert "the first 14 samples belong to an earlier recording: left out" in reading.notes


def test_the_extension_does_not_matter(
    write_table: WriteTable, headphone: dict[str, FloatArray | list[str]], tmp_path: Path
) -> None:
    path = write_table("Headphone.csv", headphone)
    shutil.copy(path, tmp_path / "picture.png")

    assert inspect(tmp_path / "picture.png").format == "Sensor Logger Headphone.csv"
