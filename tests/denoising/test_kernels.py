"""The compiled loops and their NumPy twins are one and the same."""

from collections.abc import Callable
from typing import NoReturn

import numpy as np
import pytest

from acclock.denoising import kernels, uncompiled_kernels
from acclock.denoising.config import DenoiseConfig
from acclock.denoising.periodicity import assess_periodicity

DRAW = np.random.default_rng(12)
LENGTHS = [1, 2, 3, 8, 63, 400, 2048]


def rough(*shape: int) -> np.ndarray:
    """Values of all sizes, some of them zero."""
    values = DRAW.normal(size=shape) * 10.0 ** DRAW.uniform(-9, 3, shape)
    return np.where(DRAW.random(shape) < 0.1, 0.0, values)


@pytest.fixture(autouse=True)
def compiled(absent: Callable[[str], NoReturn]) -> None:
    if not kernels.COMPILED:
        absent("the compiled kernels were not built")


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("shape", ["rough", "zero", "two values"])
def test_medians_agree(count: int, shape: str) -> None:
    values = {
        "rough": rough(7, count),
        "zero": np.zeros((7, count)),
        "two values": DRAW.choice([1.0, -8.0], (7, count)),
    }[shape]
    ours, twin = np.empty(7), np.empty(7)

    kernels.median_magnitudes(values, count, ours)
    uncompiled_kernels.median_magnitudes(values, count, twin)

    np.testing.assert_allclose(ours, twin, rtol=1e-15)


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("power", [1.0, 1.3, 1.5, 2.0])
def test_fading_agrees(count: int, power: float) -> None:
    values, thresholds = rough(6, count), np.array([1.0, 0.1, 0.0, 5.0, 1e-3, 1e-300])
    ours, twin = np.empty_like(values), np.empty_like(values)

    kernels.fade(values, thresholds, count, power, ours)
    uncompiled_kernels.fade(values, thresholds, count, power, twin)

    np.testing.assert_allclose(ours, twin, rtol=1e-14)


@pytest.mark.parametrize("count", LENGTHS)
def test_attenuating_agrees(count: int) -> None:
    values, powers = rough(5, count), np.array([1.0, 0.0, 1e-4, 1e9, 0.0])
    ours, twin = np.empty_like(values), np.empty_like(values)

    kernels.attenuate(values, powers, count, 40, 2.0, ours)
    uncompiled_kernels.attenuate(values, powers, count, 40, 2.0, twin)

    np.testing.assert_allclose(ours, twin, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("count", [0, *LENGTHS])
@pytest.mark.parametrize("decimals", [1, 12])
def test_peaks_agree(count: int, decimals: int) -> None:
    signal = DRAW.normal(size=count).round(decimals)
    ours, twin = np.empty(count, np.intp), np.empty(count, np.intp)

    found = kernels.find_peaks(signal, 5, 0.3, ours)
    expected = uncompiled_kernels.find_peaks(signal, 5, 0.3, twin)

    assert ours[:found].tolist() == twin[:expected].tolist()


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("taps", [1, 8, 16])
def test_recursion_agrees(count: int, taps: int) -> None:
    inputs, desired = DRAW.normal(size=(4, count)), DRAW.normal(size=(4, count))
    forgetting = DRAW.uniform(0.5, 1.0, (4, count))
    ours, twin = np.empty((4, count)), np.empty((4, count))

    kernels.recurse(inputs, desired, forgetting, count, taps, 100.0, ours)
    uncompiled_kernels.recurse(inputs, desired, forgetting, count, taps, 100.0, twin)

    np.testing.assert_allclose(ours, twin, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("count", LENGTHS)
def test_roughness_agrees(count: int) -> None:
    values = rough(7, count)
    ours, twin = np.empty(7), np.empty(7)

    kernels.roughness(values, count, ours)
    uncompiled_kernels.roughness(values, count, twin)

    np.testing.assert_allclose(ours, twin, rtol=1e-15)


@pytest.mark.parametrize("count", LENGTHS)
def test_liveliness_agrees(count: int) -> None:
    values, window = rough(2, 3, count), max(1, count // 2)
    ours, twin = np.empty((2, 2, 3)), np.empty((2, 2, 3))

    kernels.liveliness(values, count, 40, window, ours[0], ours[1])
    uncompiled_kernels.liveliness(values, count, 40, window, twin[0], twin[1])

    np.testing.assert_allclose(ours, twin, rtol=1e-9, atol=1e-12)


def beat(interval: float, jitter: float, seed: int) -> np.ndarray:
    draw, signal = np.random.default_rng(seed), np.zeros(400)
    places = np.arange(10.0, 390.0, interval)
    signal[(places + draw.uniform(-jitter, jitter, len(places))).astype(int)] = 1.0
    return np.convolve(signal, np.hanning(15), "same") + 0.02 * draw.normal(size=400)


@pytest.mark.parametrize("interval", [33.0, 45.0, 70.0, 120.0])
@pytest.mark.parametrize("jitter", [0.0, 2.0, 9.0])
def test_evenness_agrees_with_its_twin_and_with_the_detector_of_events(
    interval: float, jitter: float
) -> None:
    config = DenoiseConfig()
    rows = np.stack([*(beat(interval, jitter, seed) for seed in range(6)), np.ones(400)])
    ours, twin = np.empty(7), np.empty(7)
    how = (50, 30, 50.0, config.least_prominence, 0.1, 0.2)

    kernels.evenness(rows, 400, *how, ours)
    uncompiled_kernels.evenness(rows, 400, *how, twin)

    told = [assess_periodicity(row, config).interval_variation for row in rows]
    np.testing.assert_allclose(ours, twin, rtol=1e-12)
    np.testing.assert_allclose(ours, told, rtol=1e-12)
