import numpy as np
import pytest
import pywt

from acclock.denoising.wavelets import scalogram
from acclock.errors import ConfigError

RATE_HZ = 100.0
FREQUENCIES_HZ = np.array([2.0, 4.0, 8.0, 16.0])


def test_scalogram_has_the_shape_of_pywavelets() -> None:
    chirp = np.sin(2 * np.pi * np.cumsum(np.linspace(1.0, 20.0, 1000)) / RATE_HZ)

    ours = scalogram(chirp, rate_hz=RATE_HZ, frequencies_hz=FREQUENCIES_HZ)

    # cmorB-C with B = 2 is a Gaussian of standard deviation one; C = 6 / 2 pi is our center.
    wavelet = f"cmor2.0-{6.0 / (2 * np.pi):.6f}"
    scales = 6.0 / (2 * np.pi) * RATE_HZ / FREQUENCIES_HZ
    theirs = np.abs(pywt.cwt(chirp, scales, wavelet, 1 / RATE_HZ, method="fft")[0])
    for our_row, their_row in zip(ours, theirs, strict=True):
        # The ends differ: we wrap around, they pad with zeros.
        assert np.corrcoef(our_row[150:-150], their_row[150:-150])[0, 1] > 0.99


def test_a_frequency_above_half_the_rate_is_refused() -> None:
    with pytest.raises(ConfigError, match="up to 50 Hz"):
        scalogram(np.zeros(100), rate_hz=RATE_HZ, frequencies_hz=np.array([60.0]))
