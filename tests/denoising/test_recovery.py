import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.sporadic import Reference, attenuate, imitate
from acclock.denoising.uncompiled import measure_local_power

CONFIG = DenoiseConfig()


def attenuate_naively(row: np.ndarray, power: float, half: int = 40) -> np.ndarray:
    calmer = np.empty_like(row)
    for now in range(len(row)):
        around = row[max(0, now - half) : now + half + 1]
        fluctuation = np.sqrt(np.mean(around**2) / power)
        calmer[now] = row[now] * min(1.0, CONFIG.headroom / fluctuation**2)
    return calmer


@given(seed=st.integers(0, 99), power=st.floats(0.01, 10.0))
def test_attenuation_is_its_formula_in_a_plain_loop(seed: int, power: float) -> None:
    row = np.random.default_rng(seed).normal(size=300)

    calmer = attenuate(row[np.newaxis], np.array([power]), CONFIG)

    np.testing.assert_allclose(calmer[0], attenuate_naively(row, power), rtol=1e-9)


@given(seed=st.integers(0, 99), burst=st.floats(1.0, 1e3))
def test_attenuation_never_amplifies_and_never_turns_a_sign(seed: int, burst: float) -> None:
    levels = np.random.default_rng(seed).normal(size=(2, 5, 500))
    levels[..., 300:380] *= burst

    calmer = attenuate(levels, np.ones((2, 5)), CONFIG)

    assert (np.abs(calmer) <= np.abs(levels)).all()
    assert (calmer * levels >= 0).all()


def test_what_is_as_lively_as_the_reference_passes_unchanged() -> None:
    levels = np.random.default_rng(1).normal(size=(5, 2048))

    np.testing.assert_array_equal(attenuate(levels, np.ones(5), CONFIG), levels)


def test_before_there_is_a_reference_the_calmest_quarter_of_the_context_serves() -> None:
    levels = np.random.default_rng(2).normal(size=(1, 5, 2048))
    levels[..., 800:] *= 20.0

    calmer = attenuate(levels, np.zeros((1, 5)), CONFIG)

    np.testing.assert_array_equal(calmer[..., :700], levels[..., :700])
    assert np.std(calmer[..., 900:]) < 2.0


def test_nothing_of_the_reference_enters_an_attenuated_window() -> None:
    silent = np.zeros((1, 5, 2048))

    assert not attenuate(silent, np.full((1, 5), 7.0), CONFIG).any()


@pytest.mark.paper("Sec. 4.2.2")
def test_the_papers_filter_finds_a_heartbeat_that_it_has_heard_before() -> None:
    seconds = np.arange(400) / 100.0
    phase = seconds % 0.8
    heartbeat = np.sin(2 * np.pi * 5.0 * phase) * np.exp(-8.0 * phase)
    disturbed = np.roll(heartbeat, 30) + 0.5 * np.random.default_rng(3).normal(size=400)

    answer = imitate(disturbed, heartbeat, CONFIG)

    before = np.corrcoef(disturbed[100:], np.roll(heartbeat, 30)[100:])[0, 1]
    assert np.corrcoef(answer[100:], np.roll(heartbeat, 30)[100:])[0, 1] > before + 0.1


@pytest.mark.parametrize("silent", ["window", "reference", "both"])
def test_silence_gives_silence_or_at_least_numbers(silent: str) -> None:
    noise = np.random.default_rng(4).normal(size=(2, 400))
    window = np.zeros_like(noise) if silent in {"window", "both"} else noise
    reference = np.zeros_like(noise) if silent in {"reference", "both"} else noise

    assert np.isfinite(imitate(window, reference, CONFIG)).all()


@given(seed=st.integers(0, 99), half=st.integers(0, 50), count=st.integers(1, 60))
def test_local_power_is_a_mean_over_what_is_near(seed: int, half: int, count: int) -> None:
    signal = np.random.default_rng(seed).normal(size=count)

    power = measure_local_power(signal, half)

    expected = [np.mean(signal[max(0, n - half) : n + half + 1] ** 2) for n in range(count)]
    np.testing.assert_allclose(power, expected, atol=1e-12)


def test_a_reference_remembers_some_rows_and_forgets_others() -> None:
    windows, levels = np.ones((3, CONFIG.window_length)), 2.0 * np.ones((3, 5, 400))
    nothing = Reference.unknown(3, CONFIG)

    heard = nothing.remember(windows, levels, np.array([True, False, True]))
    later = heard.forget(np.array([True, False, False]))

    assert heard.known.tolist() == [True, False, True]
    assert later.known.tolist() == [False, False, True]
    assert later.powers[2].tolist() == [4.0] * 5
    assert not nothing.known.any()
