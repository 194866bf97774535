"""The spectrum of a window equals what NumPy's Fourier transform says of it."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.signal import hilbert

from acclock.embedding.networks.config import ViewsConfig, WindowShape
from acclock.embedding.networks.views import (
    BandSpectra,
    EnvelopeRhythm,
    Spectrogram,
    SpectrogramStatistics,
    Views,
)
from acclock.values import FloatArray

BANDS, TOP_HZ, RATE_HZ = 35, 40.0, 100.0
EDGES = np.linspace(1.0, TOP_HZ, BANDS + 1)


@pytest.fixture
def windows() -> FloatArray:
    return np.random.default_rng(5).normal(size=(6, 3, 400))


def look(module: torch.nn.Module, windows: FloatArray) -> FloatArray:
    with torch.inference_mode():
        return np.asarray(module.double()(torch.from_numpy(windows)).numpy())


def average_bands(values: NDArray[Any]) -> NDArray[Any]:
    """Average over the bins of each band, one band after the other."""
    bins = np.fft.rfftfreq(400, 1.0 / RATE_HZ)
    pairs = pairwise(EDGES)
    return np.stack(
        [values[..., (bins >= low) & (bins < high)].mean(axis=-1) for low, high in pairs], axis=-1
    )


def test_band_spectra_are_those_of_the_fourier_transform(windows: FloatArray) -> None:
    shape = WindowShape(axes=3, length=400)
    module = BandSpectra(shape=shape, rate_hz=RATE_HZ, bands=BANDS, top_hz=TOP_HZ)

    seen = look(module, windows)

    spectrum = np.fft.rfft(windows * np.hanning(400))
    power = average_bands(np.abs(spectrum) ** 2)
    floor = 1e-3 * power.mean(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(seen[:, :105], np.log(power + floor).reshape(6, -1), atol=1e-4)
    cross = average_bands(spectrum[:, 0] * spectrum[:, 1].conj())
    coherence = cross / np.sqrt(power[:, 0] * power[:, 1])
    np.testing.assert_allclose(seen[:, 108:143], coherence.real, atol=1e-4)
    np.testing.assert_allclose(seen[:, 143:178], coherence.imag, atol=1e-4)
    assert seen.shape[1] == module.feature_width


def test_the_coherence_of_an_axis_that_follows_another_turns_with_the_frequency() -> None:
    noise = np.random.default_rng(1).normal(size=(8, 405))
    late = np.stack([noise[:, 5:], noise[:, :400], noise[:, 5:]], axis=1)  # y is x, 0.05 s later
    shape = WindowShape(axes=3, length=400)
    module = BandSpectra(shape=shape, rate_hz=RATE_HZ, bands=BANDS, top_hz=TOP_HZ)

    real, imaginary = look(module, late)[:, 108:178].mean(axis=0).reshape(2, BANDS)

    middles = (EDGES[:-1] + EDGES[1:]) / 2
    np.testing.assert_allclose(
        np.angle(real + 1j * imaginary), np.angle(np.exp(2j * np.pi * middles * 0.05)), atol=0.3
    )


def test_statistics_are_those_of_every_stretch(windows: FloatArray) -> None:
    spectrogram = Spectrogram(stretch=160, step=20, rate_hz=RATE_HZ, top_hz=TOP_HZ)
    module = SpectrogramStatistics(spectrogram, axes=3)

    seen = look(module, windows)

    stretches = np.stack([windows[..., n : n + 160] for n in range(0, 241, 20)], axis=2)
    power = np.abs(np.fft.rfft(stretches * np.hanning(160))[..., 1:65]) ** 2
    logs = np.log(power + 1e-3 * power.mean(axis=(1, 2, 3), keepdims=True))
    both = np.concatenate([logs.mean(axis=2), logs.std(axis=2)], axis=1).reshape(6, -1)
    np.testing.assert_allclose(seen, both, atol=1e-3)


def test_an_envelope_follows_the_strength_of_its_band() -> None:
    moments = np.arange(400) / RATE_HZ
    swell = 1.0 + 0.8 * np.sin(2 * np.pi * 1.2 * moments)
    wave = swell * np.cos(2 * np.pi * 13.0 * moments)  # in the third of eight bands
    module = EnvelopeRhythm(rate_hz=RATE_HZ, bands=8, top_hz=TOP_HZ).double()

    followed = module.follow(torch.from_numpy(np.stack([wave] * 3)[np.newaxis])).numpy()[0, 2]

    true = np.abs(hilbert(wave))[::4]
    assert np.corrcoef(followed[10:-10], true[10:-10])[0, 1] > 0.99


def test_the_rhythm_tells_how_long_one_band_follows_another() -> None:
    moments = np.arange(400) / RATE_HZ
    early = np.exp(-(((moments % 0.8) - 0.2) ** 2) / 0.002) * np.cos(2 * np.pi * 8.0 * moments)
    late = np.exp(-(((moments % 0.8) - 0.44) ** 2) / 0.002) * np.cos(2 * np.pi * 28.0 * moments)
    window = np.stack([early + late] * 3)[np.newaxis]
    module = EnvelopeRhythm(rate_hz=RATE_HZ, bands=8, top_hz=TOP_HZ)

    agreement = look(module, window).reshape(8, 8, -1)

    assert agreement[1, 5].argmax() * 0.04 == pytest.approx(0.24)  # band 5 is 0.24 s behind band 1


def test_the_rhythm_is_that_of_a_plain_loop(windows: FloatArray) -> None:
    module = EnvelopeRhythm(rate_hz=RATE_HZ, bands=4, top_hz=TOP_HZ).double()

    agreement = look(module, windows).reshape(6, 4, 4, -1)

    followed = module.follow(torch.from_numpy(windows)).numpy()
    for lag in range(agreement.shape[-1]):
        later = np.pad(followed, ((0, 0), (0, 0), (0, lag)))[..., lag:]
        twin = np.einsum("nat,nbt->nab", followed, later) / followed.shape[2]
        np.testing.assert_allclose(agreement[..., lag], twin, atol=1e-12)


@pytest.mark.parametrize("length", [100, 200, 300, 400])
@pytest.mark.parametrize("axes", [1, 3])
def test_views_are_as_wide_as_they_say(axes: int, length: int) -> None:
    views = Views(ViewsConfig(), WindowShape(axes=axes, length=length))

    seen = look(views, np.random.default_rng(0).normal(size=(2, axes, length)))

    assert seen.shape == (2, views.feature_width)
    assert np.isfinite(seen).all()


def test_silence_is_finite() -> None:
    views = Views(ViewsConfig(), WindowShape(axes=3, length=400))

    assert np.isfinite(look(views, np.zeros((1, 3, 400)))).all()
