import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import signal as oracle

from acclock.denoising.bandpass import bandpass
from acclock.errors import ConfigError

RATE_HZ = 100.0


def test_gain_is_that_of_a_butterworth_filter_run_both_ways() -> None:
    impulse = np.zeros(4001)
    impulse[2000] = 1.0

    ours = np.abs(np.fft.rfft(bandpass(impulse, rate_hz=RATE_HZ)))

    frequencies = np.fft.rfftfreq(impulse.size, 1 / RATE_HZ)
    high = oracle.freqs(
        *oracle.butter(4, 2 * np.pi * 0.8, "highpass", analog=True), 2 * np.pi * frequencies
    )
    low = oracle.freqs(
        *oracle.butter(4, 2 * np.pi * 25.0, "lowpass", analog=True), 2 * np.pi * frequencies
    )
    np.testing.assert_allclose(ours, np.abs(high[1] * low[1]) ** 2, atol=2e-3)


@given(shift=st.floats(-50, 50), scale=st.floats(0.1, 10), seed=st.integers(0, 99))
def test_a_constant_does_not_pass_and_size_scales(shift: float, scale: float, seed: int) -> None:
    noise = np.random.default_rng(seed).normal(size=(3, 600))

    plain = bandpass(noise, rate_hz=RATE_HZ)
    moved = bandpass(scale * noise + shift, rate_hz=RATE_HZ)

    np.testing.assert_allclose(moved, scale * plain, atol=1e-8)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 400])
def test_any_length_keeps_its_shape_and_is_finite(count: int) -> None:
    passed = bandpass(np.linspace(0.0, 1.0, 2 * count).reshape(2, count), rate_hz=RATE_HZ)

    assert passed.shape == (2, count)
    assert np.isfinite(passed).all()


@pytest.mark.parametrize("band", [(0.0, 25.0), (25.0, 0.8), (-1.0, 2.0)])
def test_a_band_that_is_none_is_refused(band: tuple[float, float]) -> None:
    with pytest.raises(ConfigError, match="from low to high"):
        bandpass(np.zeros(100), rate_hz=RATE_HZ, low_hz=band[0], high_hz=band[1])
