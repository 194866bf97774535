"""What is part of a network says what the pipeline says."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from acclock.denoising.bandpass import bandpass
from acclock.denoising.config import DenoiseConfig
from acclock.denoising.periodicity import assess_periodicity
from acclock.denoising.uncompiled import measure_local_power
from acclock.pipeline import Preparation, PreparationName, make_windows
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.grid import bring_to
from acclock.training.raw import filters
from acclock.training.raw.filters import BandPass, Fourier
from acclock.training.raw.preparations import Denoised, make_preparation
from acclock.training.raw.recovery import PeriodicityCheck
from acclock.values import FloatArray


def draw_contexts(rate_hz: float, length: int) -> FloatArray:
    """Hearts at rest, a heart that somebody shakes, and nothing but chance."""
    worn = [
        bring_to(simulate(draw_person(index), Scene(duration_s=24.0)).recording, rate_hz)
        for index in range(4)
    ]
    hearts = np.stack([recording.samples[:, :length] for recording in worn])
    shaken = hearts.copy()
    shaken[..., -length // 10 :] *= 3.0
    walks = 9.8 + np.random.default_rng(3).normal(0.0, 0.01, (2, 3, length)).cumsum(axis=-1)
    return np.concatenate([hearts, shaken, walks]).astype(np.float32).astype(np.float64)


@pytest.mark.parametrize(
    ("rate_hz", "count"), [(100.0, 2048), (75.0, 1536), (50.0, 1024), (25.0, 512)]
)
def test_the_filter_is_that_of_the_pipeline(rate_hz: float, count: int) -> None:
    signals = 9.8 + np.random.default_rng(1).normal(size=(2, 3, count)).cumsum(axis=-1) / 10

    filtered = BandPass(count, rate_hz, (0.8, 40.0))(torch.from_numpy(signals))

    expected = bandpass(signals, rate_hz=rate_hz, low_hz=0.8, high_hz=40.0)
    np.testing.assert_allclose(filtered.numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("rate_hz", [100.0, 75.0, 50.0, 25.0])
@pytest.mark.parametrize("name", ["bandpass", "two-stage", "paper"])
def test_windows_and_memory_are_those_of_the_pipeline(
    name: PreparationName, rate_hz: float
) -> None:
    preparation = Preparation(name=name, rate_hz=rate_hz)
    contexts = draw_contexts(rate_hz, preparation.config.context_length)
    network = make_preparation(preparation)
    later = np.roll(contexts, 1, axis=0)
    references = torch.zeros(len(contexts), 3, network.width) if network.width else None

    with torch.inference_mode():
        first, left = network(torch.from_numpy(contexts).float(), references)
        second, _ = network(torch.from_numpy(later).float(), left)

    expected, known = make_windows(contexts, preparation)
    np.testing.assert_allclose(first.numpy(), expected, atol=2e-5 * expected.std())
    expected, _ = make_windows(later, preparation, known)
    np.testing.assert_allclose(second.numpy(), expected, atol=2e-5 * expected.std())


@settings(max_examples=40)
@given(
    bpm=st.floats(45.0, 210.0),
    unevenness=st.sampled_from([0.0, 0.05, 0.3]),
    noise=st.sampled_from([0.0, 0.1, 1.0]),
    seed=st.integers(0, 1000),
)
def test_the_rhythm_is_judged_as_in_the_pipeline(
    bpm: float, unevenness: float, noise: float, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    pace = 1.0 + unevenness * draw.normal(size=400).cumsum() / 20
    window = np.sin(2 * np.pi * bpm / 60.0 * np.cumsum(pace) / 100.0) ** 3
    window += noise * draw.normal(size=400)

    found = PeriodicityCheck(DenoiseConfig())(torch.from_numpy(window).unsqueeze(0))

    assert bool(found) == assess_periodicity(window, DenoiseConfig()).periodic


def test_silence_has_no_rhythm_and_stays_silent() -> None:
    preparation = Preparation(name="two-stage")
    network = make_preparation(preparation)
    assert isinstance(network, Denoised)
    contexts = torch.zeros(1, 3, preparation.config.context_length)

    windows, left = network(contexts, torch.zeros(1, 3, network.width))

    assert not windows.any()
    assert not left.any()


@given(count=st.integers(1, 60), half=st.integers(0, 70), seed=st.integers(0, 100))
def test_local_power_is_that_of_the_pipeline(count: int, half: int, seed: int) -> None:
    signals = np.random.default_rng(seed).normal(size=(2, count))

    found = filters.measure_local_power(torch.from_numpy(signals), half)

    np.testing.assert_allclose(found, measure_local_power(signals, half), atol=1e-12)


@given(count=st.integers(1, 60), seed=st.integers(0, 100))
def test_medians_and_quarters_are_those_of_numpy(count: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(3, count))

    median, quarter = (f(torch.from_numpy(values)) for f in (filters.median, filters.quarter))

    np.testing.assert_allclose(median, np.median(values, axis=-1))
    np.testing.assert_allclose(quarter, np.quantile(values, 0.25, axis=-1), atol=1e-12)


@pytest.mark.parametrize("count", [1, 7, 12, 400, 2048])
def test_spectra_lie_in_their_grid_and_turn_back(count: int) -> None:
    signals = np.random.default_rng(2).normal(size=(2, count))
    fourier = Fourier(count)

    real, imaginary = fourier(torch.from_numpy(signals))
    back = fourier.turn_back((real, imaginary))

    expected = fourier.lay_out(np.abs(np.fft.rfft(signals)))
    np.testing.assert_allclose(torch.hypot(real, imaginary), expected, atol=1e-9)
    np.testing.assert_allclose(back, signals, atol=1e-12)
