"""What every way from acceleration to heartbeat must keep, whichever it is."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.denoising.bandpass import bandpass
from acclock.denoising.config import DenoiseConfig
from acclock.denoising.context import close_ring
from acclock.denoising.inherent import join, split
from acclock.denoising.sporadic import attenuate, imitate
from acclock.denoising.stages import denoise
from acclock.values import FloatArray

CONFIG = DenoiseConfig()
WAYS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "band-pass": lambda rows: bandpass(rows, rate_hz=100.0),
    "closing the ring": close_ring,
    "stage 1": lambda rows: join(split(rows, CONFIG), CONFIG),
    "attenuation": lambda rows: attenuate(rows, np.zeros(rows.shape[:-1]), CONFIG),
    "imitation": lambda rows: imitate(rows, np.roll(rows, 50, axis=-1), CONFIG),
    "both stages": lambda rows: denoise(rows, CONFIG).recovered,
    "both stages, the paper's way": lambda rows: (
        denoise(rows, DenoiseConfig(recovery="paper")).recovered
    ),
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())


def draw_rows(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(4, 2048))


@every_way
@given(seed=st.integers(0, 9))
def test_the_input_is_untouched(way: Callable[[FloatArray], FloatArray], seed: int) -> None:
    rows = draw_rows(seed)

    way(rows)

    np.testing.assert_array_equal(rows, draw_rows(seed))


@every_way
@given(seed=st.integers(0, 9))
def test_the_same_input_gives_the_same_output(
    way: Callable[[FloatArray], FloatArray], seed: int
) -> None:
    rows = draw_rows(seed)

    np.testing.assert_array_equal(way(rows), way(rows.copy()))


@every_way
@given(seed=st.integers(0, 9), row=st.integers(0, 3))
def test_a_batch_is_its_rows_one_by_one(
    way: Callable[[FloatArray], FloatArray], seed: int, row: int
) -> None:
    rows = draw_rows(seed)

    np.testing.assert_allclose(way(rows)[row], way(rows[row : row + 1])[0], atol=1e-12)


@every_way
@given(seed=st.integers(0, 9), scale=st.floats(1e-3, 1e3))
def test_size_goes_in_and_comes_out(
    way: Callable[[FloatArray], FloatArray], seed: int, scale: float
) -> None:
    rows = draw_rows(seed)

    np.testing.assert_allclose(way(scale * rows), scale * way(rows), atol=1e-6 * scale)


@every_way
@pytest.mark.parametrize("value", [0.0, 9.81, -1e5, 1e-300])
def test_what_does_not_change_comes_out_finite(
    way: Callable[[FloatArray], FloatArray], value: float
) -> None:
    assert np.isfinite(way(np.full((2, 2048), value))).all()
