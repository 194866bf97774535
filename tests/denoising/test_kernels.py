"""The compiled loops and their NumPy twins are one and the same."""

from collections.abc import Callable
from typing import NoReturn

import numpy as np
import pytest

from acclock.denoising import kernels, uncompiled
from acclock.denoising import uncompiled as uncompiled_module
from acclock.denoising import uncompiled as uncompiled_module_
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
    uncompiled_module.median_magnitudes(values, count, twin)

    np.testing.assert_allclose(ours, twin, rtol=1e-15)


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("power", [1.0, 1.3, 1.5, 2.0])
def test_fading_agrees(count: int, power: float) -> None:
    values, thresholds = rough(6, count), np.array([1.0, 0.1, 0.0, 5.0, 1e-3, 1e-300])
    ours, twin = np.empty_like(values), np.empty_like(values)

    kernels.fade(values, thresholds, count, power, ours)
    uncompiled_module.fade(values, thresholds, count, power, twin)

    np.testing.assert_allclose(ours, twin, rtol=1e-14)


@pytest.mark.parametrize("count", LENGTHS)
def test_attenuating_agrees(count: int) -> None:
    values, powers = rough(5, count), np.array([1.0, 0.0, 1e-4, 1e9, 0.0])
    ours, twin = np.empty_like(values), np.empty_like(values)

    kernels.attenuate(values, powers, count, 40, 2.0, ours)
    uncompiled_module.attenuate(values, powers, count, 40, 2.0, twin)

    np.testing.assert_allclose(ours, twin, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("count", [0, *LENGTHS])
@pytest.mark.parametrize("decimals", [1, 12])
def test_peaks_agree(count: int, decimals: int) -> None:
    signal = DRAW.normal(size=count).round(decimals)
    ours, twin = np.empty(count, np.intp), np.empty(count, np.intp)

    found = kernels.find_peaks(signal, 5, 0.3, ours)
    expected = uncompiled_module.find_peaks(signal, 5, 0.3, twin)

    assert ours[:found].tolist() == twin[:expected].tolist()


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("taps", [1, 8, 16])
def test_recursion_agrees(count: int, taps: int) -> None:
    inputs, desired = DRAW.normal(size=(4, count)), DRAW.normal(size=(4, count))
    forgetting = DRAW.uniform(0.5, 1.0, (4, count))
    ours, twin = np.empty((4, count)), np.empty((4, count))

    kernels.recurse(inputs, desired, forgetting, count, taps, 100.0, ours)
    uncompiled_module.recurse(inputs, desired, forgetting, count, taps, 100.0, twin)

    np.testing.assert_allclose(ours, twin, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("count", LENGTHS)
def test_roughness_agrees(count: int) -> None:
    values = rough(7, count)
    ours, twin = np.empty(7), np.empty(7)

    kernels.roughness(values, count, ours)
    uncompiled_module.roughness(values, count, twin)

    np.testing.assert_allclose(ours, twin, rtol=1e-15)


@pytest.mark.parametrize("count", LENGTHS)
def test_liveliness_agrees(count: int) -> None:
    values, window = rough(2, 3, count), max(1, count // 2)
    ours, twin = np.empty((2, 2, 3)), np.empty((2, 2, 3))

    kernels.liveliness(values, count, 40, window, ours[0], ours[1])
    uncompiled_module.liveliness(values, count, 40, window, twin[0], twin[1])

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
    uncompiled_module.evenness(rows, 400, *how, twin)

    told = [assess_periodicity(row, config).interval_variation for row in rows]
    np.testing.assert_allclose(ours, twin, rtol=1e-12)
    np.testing.assert_allclose(ours, told, rtol=1e-12)


SMOOTH = [(2, 0), (10, 1), (4, 3), (400, 200), (1000, 100), (2048, 200), (16 * 31, 0)]


@pytest.mark.parametrize(("count", "edge"), SMOOTH)
@pytest.mark.parametrize("many", [1, 3, 4, 9])
def test_band_passes_agree(count: int, edge: int, many: int) -> None:
    rows, length = DRAW.normal(size=(many, count)), count + 2 * edge
    gain, turns = DRAW.random(length // 2 + 1), turn_around(length)
    keep = max(1, count // 3)
    ours, twin = np.empty((many, keep)), np.empty((many, keep))

    kernels.pass_band(rows, count, edge, gain, turns, keep, ours)
    uncompiled.pass_band(rows, count, edge, gain, turns, keep, twin)

    np.testing.assert_allclose(ours, twin, atol=1e-13)


def test_each_row_is_passed_as_if_it_were_alone() -> None:
    rows, gain, turns = rough(7, 400), DRAW.random(401), turn_around(800)
    rows[2] = np.nan
    together, alone = np.empty((7, 400)), np.empty((1, 400))

    kernels.pass_band(rows, 400, 200, gain, turns, 400, together)

    for row, passed in zip(rows, together, strict=True):
        kernels.pass_band(row, 400, 200, gain, turns, 400, alone)
        np.testing.assert_array_equal(alone[0], passed)


@pytest.mark.parametrize(
    ("count", "edge", "keep"), [(7, 0, 7), (74, 0, 74), (8, 8, 8), (8, -1, 8), (8, 2, 9), (0, 0, 0)]
)
def test_lengths_that_cannot_be_passed_are_refused(count: int, edge: int, keep: int) -> None:
    length = max(count + 2 * edge, 0)
    gain, turns = np.ones(length // 2 + 1), turn_around(max(length, 1))

    with pytest.raises(ValueError, match="takes no rows of this length"):
        kernels.pass_band(np.ones(count), count, edge, gain, turns, keep, np.empty(max(keep, 0)))


@pytest.mark.parametrize(("count", "block", "hop"), [(4, 4, 2), (400, 400, 200), (2048, 1000, 500)])
@pytest.mark.parametrize("lag", [0, 1, 33])
def test_resemblances_agree(count: int, block: int, hop: int, lag: int) -> None:
    rows = DRAW.normal(size=(5, count))
    rows[2] = 0.0
    first = min(lag, block - 1)
    ours = np.empty((5, min(118, block - first)))
    twin = np.empty_like(ours)

    kernels.resemble(rows, count, block, hop, first, ours)
    uncompiled_module_.resemble(rows, count, block, hop, first, twin)

    np.testing.assert_allclose(ours, twin, atol=1e-13)


@pytest.mark.parametrize(
    ("count", "block", "hop", "lags"), [(9, 10, 5, 3), (9, 9, 0, 3), (9, 9, 4, 10)]
)
def test_blocks_and_lags_that_do_not_fit_are_refused(
    count: int, block: int, hop: int, lags: int
) -> None:
    with pytest.raises(ValueError, match="fits into its row"):
        kernels.resemble(np.ones(count), count, block, hop, 0, np.empty(lags))


def turn_around(length: int) -> np.ndarray:
    return np.exp(-2j * np.pi * np.arange(length) / length).view(np.float64)
