import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import signal as oracle

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.periodicity import assess_periodicity

CONFIG = DenoiseConfig()
SECONDS = np.arange(400) / 100.0


def beat(bpm: float, *, rate_hz: float = 100.0) -> np.ndarray:
    """Four seconds of beats, each a decaying oscillation of 6 Hz."""
    phase = (np.arange(round(4 * rate_hz)) / rate_hz) % (60.0 / bpm)
    return np.sin(2 * np.pi * 6.0 * phase) * np.exp(-12.0 * phase)


def assess_naively(window: np.ndarray, bpm: float = 120.0) -> tuple[bool, int]:
    """Follow the paper word for word, with SciPy's peaks."""
    normalized = (window - window.mean()) / window.std()
    peaks, _ = oracle.find_peaks(normalized, distance=int(100.0 * 60 / bpm), prominence=0.3)
    if len(peaks) < 3:
        return False, len(peaks)
    intervals, heights = np.diff(peaks), normalized[peaks]
    variations = intervals.std() / intervals.mean(), heights.std() / heights.mean()
    return bool(variations[0] < 0.1 and 0 <= variations[1] < 0.2), len(peaks)


@pytest.mark.paper("Sec. 4.2.1")
@given(seed=st.integers(0, 400), bpm=st.floats(45, 119), noise=st.floats(0, 0.6))
def test_up_to_120_bpm_it_is_the_paper_word_for_word(seed: int, bpm: float, noise: float) -> None:
    window = beat(bpm) + noise * np.random.default_rng(seed).normal(size=400)

    seen = assess_periodicity(window, CONFIG)

    expected, peaks = assess_naively(window)
    if expected or seen.mean_interval_s >= 0.5:
        assert seen.periodic == expected
        assert len(seen.peaks) == peaks


@pytest.mark.parametrize("bpm", [45, 60, 75, 90, 110, 119])
def test_an_even_heart_is_periodic(bpm: int) -> None:
    assert assess_periodicity(beat(bpm), CONFIG).periodic


@pytest.mark.parametrize("bpm", [130, 145, 160, 175, 190])
def test_a_fast_heart_is_not_called_motion_for_its_speed(bpm: int) -> None:
    draw = np.random.default_rng(bpm)
    windows = [beat(bpm) + 0.05 * draw.normal(size=400) for _ in range(40)]

    ours = np.mean([assess_periodicity(window, CONFIG).periodic for window in windows])

    by_the_word = np.mean([assess_naively(window)[0] for window in windows])
    assert ours > 0.9
    assert ours > by_the_word + 0.2


@pytest.mark.paper("Sec. 4.2.1")
def test_the_papers_example_fails_for_its_amplitudes_alone() -> None:
    window = beat(75) * np.where((SECONDS > 1.5) & (SECONDS < 2.4), 8.0, 1.0)

    seen = assess_periodicity(window, CONFIG)

    assert not seen.periodic
    assert seen.interval_variation < 0.1
    assert seen.amplitude_variation > 0.2


@pytest.mark.parametrize(
    "window",
    [np.zeros(400), np.full(400, 9.81), np.linspace(0, 1, 400), beat(45)[:120], np.array([1.0])],
    ids=["zero", "constant", "slope", "two beats", "one sample"],
)
def test_fewer_than_three_peaks_are_not_periodic(window: np.ndarray) -> None:
    assert not assess_periodicity(window, CONFIG).periodic


@given(seed=st.integers(0, 99), scale=st.floats(1e-6, 1e4), shift=st.floats(-50, 50))
def test_size_and_offset_play_no_part(seed: int, scale: float, shift: float) -> None:
    window = beat(72) + 0.2 * np.random.default_rng(seed).normal(size=400)

    plain = assess_periodicity(window, CONFIG)
    moved = assess_periodicity(scale * window + scale * shift, CONFIG)

    assert moved.periodic == plain.periodic
    np.testing.assert_array_equal(moved.peaks, plain.peaks)


def test_the_spacing_follows_the_rate() -> None:
    config = DenoiseConfig.at_rate(25.0)

    seen = assess_periodicity(beat(75, rate_hz=25.0), config)

    assert 60.0 / seen.mean_interval_s == pytest.approx(75, rel=0.05)
