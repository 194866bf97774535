"""The real data sets, as they were published."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import signal

from acclock.recordings import Dataset, Reading, load_all, open_dataset, read

NOMINAL_HZ = {100.0, 200.0, 75.0, 250.0}
CLASSYGLASS_LOSSES = {("2-User18", "108"): 2, ("2-User19", "114"): 317, ("2-User31", "184"): 1}


def sample(dataset: Dataset, step: int) -> list[Reading]:
    entries = list(dataset)
    return [entry.inspect() for entry in entries[::step]]


def check_mscardio(reading: Reading) -> None:
    recording = reading.recording
    assert reading.format == "MSCardio scg.csv"
    assert (reading.unit, reading.gravity) == ("m/s²", False)
    assert recording.rate_hz in NOMINAL_HZ or recording.rate_hz == round(reading.native_rate_hz, 2)
    assert recording.rate_hz == pytest.approx(reading.native_rate_hz, rel=0.02)
    assert recording.person is not None
    assert recording.device is not None
    assert recording.start is not None
    assert recording.missing_share < 0.01
    assert sum(gap.length_s for gap in reading.gaps) < 0.2


def check_classyglass(reading: Reading) -> None:
    recording = reading.recording
    assert reading.format == "ClassyGlass MetaWear CSV"
    assert (reading.unit, reading.unit_source, reading.gravity) == ("g", "header", True)
    assert recording.rate_hz == 100.0
    assert "activity" in recording.labels
    lost = CLASSYGLASS_LOSSES.get((recording.person or "", recording.session or ""), 0)
    assert int((~recording.received).sum()) == lost


@pytest.fixture
def mscardio(data_folder: Path) -> Dataset:
    return open_dataset(data_folder / "mscardio-dev.zip")


@pytest.fixture
def classyglass(data_folder: Path) -> Dataset:
    return open_dataset(data_folder / "classyglass-dev.zip")


def test_mscardio_is_read_right(mscardio: Dataset) -> None:
    assert (mscardio.name, len(mscardio), len(mscardio.people)) == ("MSCardio", 334, 71)
    for reading in sample(mscardio, 15):
        check_mscardio(reading)


def test_classyglass_is_read_right(classyglass: Dataset) -> None:
    assert (classyglass.name, len(classyglass), len(classyglass.people)) == ("ClassyGlass", 337, 47)
    for reading in sample(classyglass, 20):
        check_classyglass(reading)


def test_a_head_that_loses_samples_has_them_masked(classyglass: Dataset) -> None:
    entry = next(e for e in classyglass.of(["2-User19"]) if e.session == "114")

    reading = entry.inspect()

    assert len(reading.gaps) == 51
    assert max(gap.length_s for gap in reading.gaps) == pytest.approx(0.8)
    check_classyglass(reading)


def test_a_phone_that_paused_has_its_pause_masked(mscardio: Dataset) -> None:
    entry = next(e for e in mscardio.of(["Subject_0021"]) if e.session == "Recording_003")

    reading = entry.inspect()

    (gap,) = reading.gaps
    assert gap.length_s == pytest.approx(0.081, abs=0.001)
    assert reading.recording.rate_hz == 205.1


def test_three_seconds_of_a_phone_are_read(data_folder: Path) -> None:
    inner = "MSCardio/Subject_0001/Recording_002/scg.csv"

    recording = read(f"{data_folder / 'mscardio-dev.zip'}::{inner}")

    assert recording.duration_s == pytest.approx(2.92, abs=0.01)


def test_muse_is_read_right(data_folder: Path) -> None:
    dataset = open_dataset(data_folder / "muse-dev.zip")

    readings = {entry.session: entry.inspect() for entry in dataset}

    assert dataset.name == "MuSe"
    rates = Counter(reading.recording.rate_hz for reading in readings.values())
    assert rates == {100.0: 5, 200.0: 1}
    for reading in readings.values():
        assert (reading.format, reading.unit, reading.gravity) == ("MuSe text", "mg", True)
        assert reading.recording.received.all()
    stale = "the first 14 samples belong to an earlier recording: left out"
    assert sum(stale in reading.notes for reading in readings.values()) == 4
    fast = "its clock of whole seconds counts 217.6 samples a second"
    assert fast in readings["center_sternum"].notes


def test_a_fast_phone_at_a_lower_rate_is_what_scipy_makes_of_it(mscardio: Dataset) -> None:
    entry = next(e for e in mscardio.of(["Subject_0047"]) if e.session == "Recording_001")

    native, ours = entry.load(), entry.load(100.0)

    theirs = signal.resample_poly(native.samples, 2, 5, axis=1)[:, : len(ours)]
    heart = signal.butter(4, (0.8, 25.0), "bandpass", fs=100.0, output="sos")
    filtered = [signal.sosfiltfilt(heart, s)[2, 500:-500] for s in (ours.samples, theirs)]
    assert native.rate_hz == 250.0
    assert np.corrcoef(filtered[0], filtered[1])[0, 1] > 0.9999


@pytest.mark.slow
def test_every_recording_of_the_phones_is_read_right(mscardio: Dataset) -> None:
    rates: Counter[float] = Counter()
    for entry in mscardio:
        reading = entry.inspect()
        check_mscardio(reading)
        rates[reading.recording.rate_hz] += 1

    assert [rates[rate_hz] for rate_hz in (100.0, 200.0, 250.0, 75.0, 73.49)] == [307, 6, 5, 5, 2]


@pytest.mark.slow
def test_every_recording_of_the_glasses_is_read_right(classyglass: Dataset) -> None:
    for entry in classyglass:
        check_classyglass(entry.inspect())


@pytest.mark.slow
def test_all_workers_together_read_what_one_reads(mscardio: Dataset) -> None:
    loaded = list(load_all(mscardio, rate_hz=100.0, workers=2))

    assert not [one.refusal for one in loaded if one.refusal]
    for one in loaded[::40]:
        assert one.recording is not None
        np.testing.assert_array_equal(one.recording.samples, one.entry.load(100.0).samples)
