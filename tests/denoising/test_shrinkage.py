from math import exp

import numpy as np
import pytest
import pywt
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from acclock.denoising.inherent import find_thresholds, shrink
from acclock.denoising.wavelets import build_bank

COEFFICIENTS = arrays.arrays(np.float64, (3, 20), elements=st.floats(-1e6, 1e6, width=32))
POWERS = st.floats(1.0, 2.0)


@pytest.mark.paper("Eq. 1")
@given(
    rows=COEFFICIENTS, power=POWERS, thresholds=st.lists(st.floats(0, 9), min_size=3, max_size=3)
)
def test_shrinking_is_the_formula_in_a_plain_loop(
    rows: np.ndarray, power: float, thresholds: list[float]
) -> None:
    shrunk = shrink(rows, threshold=np.array(thresholds), power=power)

    for row, limit, ours in zip(rows.tolist(), thresholds, shrunk, strict=True):
        for value, result in zip(row, ours, strict=True):
            ratio = min(abs(value) / limit, 1e100) if limit else 1e100
            expected = value * (1 - exp(-(ratio**power)))
            assert result == pytest.approx(expected, abs=1e-15 * abs(value), rel=1e-12)


@given(rows=COEFFICIENTS, power=POWERS, threshold=st.floats(1e-3, 1e3))
def test_shrinking_never_amplifies_nor_turns_a_sign(
    rows: np.ndarray, power: float, threshold: float
) -> None:
    shrunk = shrink(rows, threshold=threshold, power=power)

    assert (np.abs(shrunk) <= np.abs(rows)).all()
    assert (shrunk * rows >= 0).all()


@given(rows=COEFFICIENTS)
def test_the_threshold_is_the_formula_with_numpys_median(rows: np.ndarray) -> None:
    sigma = np.median(np.abs(rows), axis=-1) / 0.6745

    np.testing.assert_allclose(find_thresholds(rows), sigma * np.sqrt(2 * np.log(20)), rtol=1e-12)


def test_noise_alone_nearly_vanishes_and_a_large_coefficient_stays() -> None:
    noise = np.random.default_rng(8).normal(size=2048)
    noise[1000] = 50.0

    shrunk = shrink(noise, threshold=find_thresholds(noise[np.newaxis])[0], power=1.5)

    assert np.std(np.delete(shrunk, 1000)) < 0.35
    assert shrunk[1000] == pytest.approx(50.0, rel=1e-6)


@pytest.mark.paper("Sec. 4.1")
def test_stage_one_is_what_pywavelets_gives_step_by_step() -> None:
    signal = np.random.default_rng(9).normal(size=2048)
    bank = build_bank(2048, 6, (2, 3, 4, 5, 6))

    coefficients = bank.decompose(signal)
    ours = bank.recompose(shrink(coefficients, threshold=find_thresholds(coefficients), power=1.5))

    np.testing.assert_allclose(ours, shrink_with_pywavelets(signal), atol=1e-9, rtol=0)


def shrink_with_pywavelets(signal: np.ndarray) -> np.ndarray:
    pairs = []
    for place, (approximation, detail) in enumerate(pywt.swt(signal, "dmey", 6)):
        limit = np.median(np.abs(detail)) / 0.6745 * np.sqrt(2 * np.log(len(detail)))
        kept = detail * (1 - np.exp(-((np.abs(detail) / limit) ** 1.5)))
        pairs.append((np.zeros_like(approximation), kept if place < 5 else np.zeros_like(detail)))
    return np.asarray(pywt.iswt(pairs, "dmey"))
