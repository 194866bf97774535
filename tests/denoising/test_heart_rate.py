from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.denoising.heart_rate import measure_heart_rate
from acclock.errors import SignalError
from acclock.recordings import open_dataset

RATE_HZ = 100.0


def beat(bpm: float, seconds: float = 30.0, rate_hz: float = RATE_HZ) -> np.ndarray:
    phase = (np.arange(round(seconds * rate_hz)) / rate_hz) % (60.0 / bpm)
    return 0.2 * np.sin(2 * np.pi * 8.0 * phase) * np.exp(-10.0 * phase)


def color(noise: np.ndarray, slope: float) -> np.ndarray:
    """Give noise of unit RMS whose amplitude falls with this power of the frequency."""
    frequencies = np.maximum(np.arange(noise.shape[-1] // 2 + 1), 1.0)
    colored = np.fft.irfft(np.fft.rfft(noise) / frequencies**slope, noise.shape[-1])
    return np.asarray(colored / colored.std())


@pytest.mark.parametrize("rate_hz", [25.0, 50.0, 100.0, 200.0])
@pytest.mark.parametrize("bpm", [42, 55, 72, 95, 120, 150])
def test_a_beat_of_this_pace_is_read_to_one_percent(bpm: int, rate_hz: float) -> None:
    rate = measure_heart_rate(beat(bpm, rate_hz=rate_hz), rate_hz)

    assert rate.clear
    assert rate.bpm == pytest.approx(bpm, rel=0.01)


@pytest.mark.parametrize("seconds", [4.0, 6.0, 10.0, 20.0, 30.0, 60.0, 100.0])
@pytest.mark.parametrize("slope", [0.0, 0.5, 1.0])
def test_noise_of_any_color_and_length_is_not_clear(seconds: float, slope: float) -> None:
    draw = np.random.default_rng(int(seconds))
    count = round(seconds * RATE_HZ)

    rates = [
        measure_heart_rate(0.1 * color(draw.normal(size=(axes, count)), slope), RATE_HZ)
        for axes in (1, 3)
        for _ in range(25)
    ]

    assert not any(rate.clear for rate in rates)


def test_steps_are_no_heartbeat_however_regular() -> None:
    rate = measure_heart_rate(15.0 * beat(110), RATE_HZ)

    assert rate.clarity > rate.needed_clarity
    assert not rate.clear


@given(scale=st.floats(1e-5, 1.0), gravity=st.floats(-20, 20), seed=st.integers(0, 20))
def test_gravity_plays_no_part_and_size_little(scale: float, gravity: float, seed: int) -> None:
    signal = beat(64) + 0.02 * np.random.default_rng(seed).normal(size=3000)

    rate = measure_heart_rate(scale * signal + gravity, RATE_HZ)

    assert rate.clear
    assert rate.bpm == pytest.approx(64, rel=0.02)


@pytest.mark.parametrize("signal", [np.zeros(3000), np.full((3, 3000), 9.81), beat(60, 2.0), []])
def test_silence_and_a_moment_are_unclear(signal: np.ndarray) -> None:
    rate = measure_heart_rate(np.asarray(signal), RATE_HZ)

    assert not rate.clear
    assert np.isfinite([rate.bpm, rate.clarity, rate.rms]).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(SignalError, match="finite"):
        measure_heart_rate(np.full(1000, value), RATE_HZ)


@pytest.mark.parametrize(
    ("name", "bpm"), [("center_sternum", 71), ("1_Stave", 88), ("4_Chest_sweater", 75)]
)
def test_muse_recordings_beat_as_fast_as_their_readme_says(
    data_folder: Path, name: str, bpm: int
) -> None:
    entries = [e for e in open_dataset(data_folder / "muse-dev.zip") if name in e.name]

    recording = entries[0].load(rate_hz=RATE_HZ)
    rate = measure_heart_rate(recording.samples, RATE_HZ)

    assert rate.clear
    assert rate.bpm == pytest.approx(bpm, abs=4)


def test_people_who_walk_and_run_show_no_clear_heartbeat(data_folder: Path) -> None:
    moving = [
        entry
        for entry in open_dataset(data_folder / "classyglass-dev.zip")
        if entry.labels["activity"] in {"walking", "running", "stairs"}
    ]

    rates = [
        measure_heart_rate(entry.load(rate_hz=RATE_HZ).samples, RATE_HZ) for entry in moving[:12]
    ]

    assert len(rates) == 12
    assert not any(rate.clear for rate in rates)
