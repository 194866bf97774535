import json
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from acclock.errors import ConfigError
from acclock.recordings import holds_many, inspect, load_all, open_dataset, read, write
from acclock.values import FloatArray, Recording

WriteTable = Callable[..., Path]


def zip_up(folder: Path) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder))
    return path


@pytest.fixture
def mscardio(write_table: WriteTable, tmp_path: Path, motion: FloatArray) -> Path:
    """Two people in the layout of MSCardio: one described beside, one in the table of people."""
    for subject, recordings in (("Subject_0001", 2), ("Subject_0002", 1)):
        for number in range(1, recordings + 1):
            place = f"set/MSCardio/{subject}/Recording_{number:03}"
            columns = {"time": np.arange(1000), "seconds_elapsed": np.arange(1000) / 99.5}
            columns |= dict(zip("xyz", motion - motion.mean(axis=1, keepdims=True), strict=True))
            write_table(f"{place}/scg.csv", columns)
            write_table(f"{place}/uncalibrated_scg.csv", columns)
            taken = {
                "recording_time": "2024-11-06_02-00-00",
                "recording_timezone": "America/Chicago",
            }
            meta = json.dumps({"recording_info": taken})
            (tmp_path / place / "recording_metadata.json").write_text(meta)
    about = {"general_info": {"Sex": "Female", "Age": 20, "Race": None, "device_name": "iPhone 11"}}
    person = tmp_path / "set/MSCardio/Subject_0001/general_metadata.json"
    person.write_text(json.dumps(about))
    (tmp_path / "set/MSCardio/Subject_0002/Recording_009").mkdir()
    write_table(
        "set/info/all_subject_info.csv",
        {"Subject_ID": ["Subject_0002"], "Device_name": ["Pixel 6"], "Sex": ["Male"]},
    )
    (tmp_path / "set/README.md").write_text("# MSCardio\n")
    return tmp_path / "set"


@pytest.mark.parametrize("pack", [zip_up, lambda folder: folder], ids=["zip", "folder"])
def test_mscardio_is_listed_with_people_days_and_phones(
    mscardio: Path, pack: Callable[[Path], Path]
) -> None:
    dataset = open_dataset(pack(mscardio))

    assert (dataset.name, len(dataset)) == ("MSCardio", 3)
    assert dataset.people == ("Subject_0001", "Subject_0002")
    first, _, last = dataset
    assert (first.session, first.day) == ("Recording_001", date(2024, 11, 5))
    assert (first.device, last.device) == ("iPhone 11", "Pixel 6")
    assert (first.labels, last.labels) == ({"sex": "Female", "age": "20"}, {"sex": "Male"})
    recording = first.load(rate_hz=50.0)
    assert (recording.person, recording.rate_hz) == ("Subject_0001", 50.0)
    assert recording.labels == first.labels


def test_one_of_a_data_set_is_read_by_its_path(mscardio: Path) -> None:
    inner = "MSCardio/Subject_0001/Recording_002/scg.csv"

    zipped = inspect(f"{zip_up(mscardio)}::{inner}")
    folder = inspect(mscardio / inner)

    assert zipped.format == folder.format == "MSCardio scg.csv"
    assert (zipped.unit, zipped.gravity) == ("m/s²", False)
    np.testing.assert_array_equal(zipped.recording.samples, folder.recording.samples)
    assert folder.recording.person == "Subject_0001"
    assert folder.recording.device == "iPhone 11"


def test_a_part_of_a_layout_is_a_data_set_too(mscardio: Path) -> None:
    assert len(open_dataset(mscardio / "MSCardio" / "Subject_0001")) == 2
    assert read(mscardio / "MSCardio" / "Subject_0002").person == "Subject_0002"
    assert holds_many(mscardio)
    assert not holds_many(mscardio / "MSCardio" / "Subject_0002")


def test_people_are_chosen_by_name(mscardio: Path) -> None:
    dataset = open_dataset(mscardio, people=["Subject_0002"])

    assert [entry.person for entry in dataset] == ["Subject_0002"]
    with pytest.raises(ConfigError, match="nobody called Subject_0999"):
        dataset.of(["Subject_0999"])


def test_classyglass_tells_the_activity_by_its_number(
    write_table: WriteTable, tmp_path: Path, motion: FloatArray
) -> None:
    columns = {"epoch (ms)": 1568492160270 + np.arange(1000) * 10, "time (-13:00)": ["x"] * 1000}
    columns["elapsed (s)"] = np.arange(1000) / 100.0
    columns |= {f"{a}-axis (g)": row / 9.80665 for a, row in zip("xyz", motion, strict=True)}
    end = "_MetaWear_2019-09-14T16.16.00.093_F1E55E2FE95F_Accelerometer_100.000Hz_1.4.5.csv"
    for place in ("Dataset_1A/User2/21", "Dataset_2/SensorData/User2/9", "Dataset_1B/User2/3"):
        write_table(f"Datasets/{place}{end}", columns)

    entries = {entry.person: entry for entry in open_dataset(tmp_path)}

    assert entries["1A-User2"].labels == {"activity": "running"}
    assert entries["2-User2"].labels == {"activity": "sit to stand"}
    assert entries["1B-User2"].labels == {}
    assert entries["2-User2"].day == date(2019, 9, 14)
    assert entries["2-User2"].inspect().format == "ClassyGlass MetaWear CSV"
    part = open_dataset(f"{tmp_path}#activity=running,sit to stand")
    assert [entry.person for entry in part] == ["1A-User2", "2-User2"]
    with pytest.raises(ConfigError, match="no activity called flying; it has running"):
        open_dataset(f"{tmp_path}#activity=flying")


def test_a_mark_in_a_name_is_a_name(mscardio: Path) -> None:
    renamed = mscardio.rename(mscardio.with_name("set #2"))

    assert len(list(open_dataset(renamed))) == 3


def test_a_plain_folder_takes_people_from_its_folders_or_its_own_files(
    write_table: WriteTable, tmp_path: Path, motion: FloatArray
) -> None:
    columns = {"t": np.arange(1000) / 100.0, **dict(zip("xyz", motion, strict=True))}
    write_table("mine/anna/monday.csv", columns)
    write(Recording(samples=motion, rate_hz=100.0, person="ben"), tmp_path / "mine" / "b.npz")
    (tmp_path / "mine" / "notes.txt").write_text("a, b\nno numbers\n")

    for dataset in (open_dataset(tmp_path / "mine"), open_dataset(zip_up(tmp_path / "mine"))):
        assert (dataset.name, dataset.people) == ("mine", ("anna", "ben"))
        assert [len(entry.load()) for entry in dataset] == [1000, 1000]


@pytest.mark.parametrize("workers", [1, 2])
def test_all_are_loaded_in_order_whoever_does_it(mscardio: Path, workers: int) -> None:
    broken = mscardio / "MSCardio/Subject_0001/Recording_002/scg.csv"
    broken.write_text("time,seconds_elapsed,x,y,z\n1,2,3,4,oops\n")
    dataset = open_dataset(zip_up(mscardio))
    heard: list[tuple[int, int]] = []

    loaded = list(
        load_all(
            dataset,
            rate_hz=100.0,
            workers=workers,
            on_progress=lambda done, total: heard.append((done, total)),
        )
    )

    assert heard == [(1, 3), (2, 3), (3, 3)]
    assert [one.entry.name for one in loaded] == list(dataset.names)
    assert [one.recording is None for one in loaded] == [False, True, False]
    assert loaded[1].refusal == f"{dataset.names[1]}: line 2 has no number in column 'z'"
    first = loaded[0].recording
    assert first is not None
    np.testing.assert_array_equal(first.samples, next(iter(dataset)).load(100.0).samples)
    assert first.labels == {"sex": "Female", "age": "20"}


def test_an_entry_travels_to_a_worker(mscardio: Path) -> None:
    entry = next(iter(open_dataset(zip_up(mscardio))))
    entry.load()

    again = pickle.loads(pickle.dumps(entry))  # noqa: S301  # between our own processes only

    np.testing.assert_array_equal(again.load().samples, entry.load().samples)


def test_reading_starts_without_anything_slow() -> None:
    slow = ("multiprocessing", "concurrent.futures", "pandas", "scipy", "torch", "matplotlib")
    code = f"import sys, acclock.recordings; print([m for m in {slow} if m in sys.modules])"

    result = subprocess.run(  # noqa: S603  # the code is ours
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )

    assert result.stdout.strip() == "[]"
