import numpy as np
import pytest
import pywt
from hypothesis import given
from hypothesis import strategies as st

from acclock.denoising.wavelets import APPROXIMATION, HALF_LOW_PASS, Bank, build_bank
from acclock.errors import SignalError

LENGTHS = [*range(2, 66, 2), 96, 128, 192, 320, 400, 448, 1600, 2048, 3072]
TAKEN = [(n, level) for n in LENGTHS for level in range(1, pywt.swt_max_level(n) + 1)]
"""Every level that PyWavelets takes at these lengths."""


def test_the_taps_are_those_of_pywavelets_to_the_last_bit() -> None:
    taps = pywt.Wavelet("dmey").dec_lo

    assert [0.0, *reversed(HALF_LOW_PASS[1:]), *HALF_LOW_PASS] == taps


@pytest.mark.parametrize(("count", "levels"), TAKEN)
def test_decomposing_is_swt_and_recomposing_is_iswt(count: int, levels: int) -> None:
    draw = np.random.default_rng(count + levels)
    signal = draw.normal(size=count)
    coefficients = draw.normal(size=(levels + 1, count))
    bank = build_bank(count, levels)

    forth = move(bank.decompose(signal), bank, -1)
    back = bank.recompose(move(coefficients, bank, 1))

    expected = pywt.swt(signal, "dmey", levels)
    details = [detail for _, detail in reversed(expected)]
    np.testing.assert_allclose(forth, [*details, expected[0][0]], atol=1e-9, rtol=0)
    pairs = [(coefficients[-1], detail) for detail in reversed(coefficients[:-1])]
    np.testing.assert_allclose(back, pywt.iswt(pairs, "dmey"), atol=1e-9, rtol=0)


def move(coefficients: np.ndarray, bank: Bank, sign: int) -> np.ndarray:
    """Move the bands from where we have them to where PyWavelets does, or back."""
    pairs = zip(coefficients, bank.leads, strict=True)
    return np.stack([np.roll(band, sign * lead) for band, lead in pairs])


@given(place=st.integers(0, 2047))
def test_coefficients_lie_over_the_samples_that_they_describe(place: int) -> None:
    click = np.eye(1, 2048, place)[0]

    levels = build_bank(2048, 6, (1, 2, 3, 4, 5, 6)).decompose(click)

    assert (np.abs(levels).argmax(axis=-1) == place).all()


@given(seed=st.integers(0, 99), shift=st.integers(0, 511))
def test_turning_the_ring_turns_the_coefficients(seed: int, shift: int) -> None:
    signal = np.random.default_rng(seed).normal(size=512)
    bank = build_bank(512, 6)

    turned = bank.decompose(np.roll(signal, shift))

    np.testing.assert_allclose(turned, np.roll(bank.decompose(signal), shift, axis=-1), atol=1e-12)


def test_all_bands_together_reconstruct_to_the_two_percent_of_this_wavelet() -> None:
    signal = np.random.default_rng(3).normal(size=2048)
    bank = build_bank(2048, 6)

    again = bank.recompose(bank.decompose(signal))

    assert np.std(again - signal) < 0.02


def test_a_bank_of_some_bands_gives_those_rows() -> None:
    signal = np.random.default_rng(4).normal(size=(2, 3, 512))

    some = build_bank(512, 5, (2, 5, APPROXIMATION)).decompose(signal)

    np.testing.assert_array_equal(some, build_bank(512, 5).decompose(signal)[..., [1, 4, 5], :])


@pytest.mark.parametrize(("count", "levels"), [(0, 1), (1, 1), (400, 6), (2047, 6)])
def test_a_length_that_does_not_halve_often_enough_is_refused(count: int, levels: int) -> None:
    with pytest.raises(SignalError, match="need a multiple of"):
        build_bank(count, levels)
