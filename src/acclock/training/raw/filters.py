"""Fourier transform, medians, band-pass and wavelets as parts of a network."""

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from acclock.denoising.bandpass import EDGE_S, bandpass
from acclock.denoising.config import DenoiseConfig
from acclock.denoising.context import close_ring
from acclock.denoising.inherent import bank_of, find_thresholds
from acclock.values import FloatArray

Complex = tuple[Tensor, Tensor]
"""Real and imaginary part: runtimes of networks know no complex numbers."""


class Fourier(nn.Module):
    """Signals of one length to their spectra and back, along the last axis.

    Ours (docs/decisions/0023). The transform of ``a * b`` samples is a product with a matrix of
    ``a``, a turn of the phases and a product with a matrix of ``b``. ONNX has an operator for it,
    which at these lengths is slower and wrong in the third digit. Spectra lie in a grid: sample
    ``columns * t + u`` and frequency ``k + rows * m`` share a place each.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count
        self.rows = max(n for n in range(1, math.isqrt(count) + 1) if count % n == 0)
        columns = count // self.rows
        self._hold("along_rows", _waves(self.rows, self.rows, self.rows))
        self._hold("along_columns", _waves(columns, columns, columns))
        self._hold("turn", _waves(self.rows, columns, count))

    def forward(self, signals: Tensor) -> Complex:
        """Give the spectra of real signals: ``(..., count)`` to ``(..., rows, columns)``."""
        grid = signals.unflatten(-1, (self.rows, self.count // self.rows))
        real, imaginary = self._held("along_rows")
        turned = multiply((real @ grid, imaginary @ grid), self._held("turn"))
        return _combine(turned, self._held("along_columns"))

    def turn_back(self, spectra: Complex) -> Tensor:
        """Give the real signals whose spectra these are."""
        conjugate = (spectra[0] / self.count, -spectra[1] / self.count)
        mixed = multiply(_combine(conjugate, self._held("along_columns")), self._held("turn"))
        real, imaginary = self._held("along_rows")
        return (real @ mixed[0] - imaginary @ mixed[1]).flatten(-2)

    def lay_out(self, gains: FloatArray) -> Tensor:
        """Give real gains ``(..., count // 2 + 1)``, one per frequency, in the grid of spectra."""
        mirrored = gains[..., 1 : (self.count + 1) // 2][..., ::-1]
        whole = np.concatenate([gains, mirrored], axis=-1)
        grid = whole.reshape(*whole.shape[:-1], -1, self.rows)
        return torch.from_numpy(np.swapaxes(grid, -1, -2).copy())

    def _hold(self, name: str, waves: NDArray[np.complex128]) -> None:
        self.register_buffer(f"{name}_real", torch.from_numpy(waves.real.copy()))
        self.register_buffer(f"{name}_imaginary", torch.from_numpy(waves.imag.copy()))

    def _held(self, name: str) -> Complex:
        return self.get_buffer(f"{name}_real"), self.get_buffer(f"{name}_imaginary")


def scale(spectra: Complex, gains: Tensor) -> Complex:
    """Give spectra with every frequency made stronger or weaker."""
    return spectra[0] * gains, spectra[1] * gains


def multiply(one: Complex, other: Complex) -> Complex:
    """Give the product of complex numbers, one by one."""
    return one[0] * other[0] - one[1] * other[1], one[0] * other[1] + one[1] * other[0]


def _waves(rows: int, columns: int, length: int) -> NDArray[np.complex128]:
    turns = np.outer(np.arange(rows), np.arange(columns)) / length
    return np.asarray(np.exp(-2j * np.pi * turns))


def _combine(one: Complex, other: Complex) -> Complex:
    return one[0] @ other[0] - one[1] @ other[1], one[0] @ other[1] + one[1] @ other[0]


def median(values: Tensor) -> Tensor:
    """Give the median along time, the mean of the middle two where there are two."""
    ordered, _ = values.sort(dim=-1)
    count = values.shape[-1]
    return (ordered[..., (count - 1) // 2] + ordered[..., count // 2]) / 2


def quarter(values: Tensor) -> Tensor:
    """Give what a quarter along time stays below, between two values if need be."""
    ordered, _ = values.sort(dim=-1)
    place = (values.shape[-1] - 1) / 4
    low, share = int(place), place - int(place)
    return ordered[..., low] * (1 - share) + ordered[..., low + (share > 0)] * share


def measure_local_power(signals: Tensor, half: int) -> Tensor:
    """Give the mean square over ``half`` samples to either side of each, fewer at the ends."""
    sizes = _sum_around(torch.ones(signals.shape[-1], dtype=signals.dtype), half)
    return _sum_around(signals.square(), half) / sizes


def _sum_around(values: Tensor, half: int) -> Tensor:
    """Sum by doubling: runs of 2, 4, 8 ... samples, put together to the length that is asked for.

    A pooling layer adds every run anew, which takes ten times as long.
    """
    count = values.shape[-1]
    half = min(half, count)
    width, begin = 2 * half + 1, 0
    runs, total = functional.pad(values, (half, half)), torch.zeros_like(values)
    for length in (1 << power for power in range(width.bit_length())):
        if length > 1:
            runs = runs[..., : -(length // 2)] + runs[..., length // 2 :]
        if width & length:
            total = total + runs[..., begin : begin + count]
            begin += length
    return total


class BandPass(nn.Module):
    """Contexts in, the same contexts with only a band left, as :func:`bandpass` gives them.

    Ours (docs/decisions/0023).
    """

    def __init__(self, count: int, rate_hz: float, band_hz: tuple[float, float]) -> None:
        super().__init__()
        self.edge = int(EDGE_S * rate_hz)
        self.fourier = Fourier(count + 2 * self.edge)
        self.gains: Tensor
        gains = _measure_gains(count, self.edge, rate_hz, band_hz)
        self.register_buffer("gains", self.fourier.lay_out(gains))

    def forward(self, contexts: Tensor) -> Tensor:
        centered = contexts - contexts.mean(dim=-1, keepdim=True)
        spectra = scale(self.fourier(_mirror_ends(centered, self.edge)), self.gains)
        return self.fourier.turn_back(spectra)[..., self.edge : -self.edge]


def _measure_gains(
    count: int, edge: int, rate_hz: float, band_hz: tuple[float, float]
) -> FloatArray:
    """Ask the filter itself, by an impulse so far from both ends that neither is heard."""
    impulse = np.zeros(count)
    impulse[count // 2] = 1.0
    kernel = bandpass(impulse, rate_hz=rate_hz, low_hz=band_hz[0], high_hz=band_hz[1])
    ring = np.roll(np.pad(kernel, (0, 2 * edge)), -(count // 2))
    return np.asarray(np.fft.rfft(ring).real)


def _mirror_ends(signals: Tensor, edge: int) -> Tensor:
    before = 2 * signals[..., :1] - signals[..., 1 : edge + 1].flip(-1)
    after = 2 * signals[..., -1:] - signals[..., -edge - 1 : -1].flip(-1)
    return torch.cat([before, signals, after], dim=-1)


_NOTHING = 1e-300


class WaveletLevels(NamedTuple):
    """The kept wavelet levels of some contexts, with what noise reaches in each."""

    coefficients: Tensor
    """``(rows, levels, context)``."""
    thresholds: Tensor
    """``(rows, levels, 1)``."""


class Wavelets(nn.Module):
    """Contexts in, contexts out, as :mod:`acclock.denoising.inherent` cleans them.

    Ours (docs/decisions/0023); what it does is told there. The numbers are asked of the
    pipeline's own functions.
    """

    def __init__(self, config: DenoiseConfig) -> None:
        super().__init__()
        count = config.context_length
        bank = bank_of(config)
        self.power = config.shrink_power
        self.fourier = Fourier(count)
        self.forth: Tensor
        self.register_buffer("forth", self.fourier.lay_out(bank.forth))
        self.back: Tensor
        self.register_buffer("back", self.fourier.lay_out(bank.back))
        self.blend: Tensor
        step = np.repeat([0.0, 1.0], count // 2)
        self.register_buffer("blend", torch.from_numpy(close_ring(step)[: count // 2]))
        self.threshold_of_one = float(find_thresholds(np.ones(count)))

    def split(self, contexts: Tensor) -> WaveletLevels:
        """Take contexts apart into the levels that are kept."""
        spectra = self.fourier(self._close_ring(contexts).unsqueeze(1))
        coefficients = self.fourier.turn_back(scale(spectra, self.forth))
        medians = median(coefficients.abs()).unsqueeze(-1)
        return WaveletLevels(coefficients, medians * self.threshold_of_one)

    def join(self, levels: WaveletLevels) -> Tensor:
        """Put the levels together again, with what is small in each faded away."""
        ratios = levels.coefficients.abs() / levels.thresholds.clamp_min(_NOTHING)
        raised = ratios if self.power == 1.0 else ratios**self.power
        shrunk = levels.coefficients * (1.0 - (-raised).exp())
        real, imaginary = scale(self.fourier(shrunk), self.back)
        return self.fourier.turn_back((real.sum(dim=1), imaginary.sum(dim=1)))

    def _close_ring(self, contexts: Tensor) -> Tensor:
        oldest = contexts[:, : len(self.blend)]
        newest = contexts.flip(-1)[:, : len(self.blend)]
        return nn.functional.pad(self.blend * (newest - oldest), (0, len(self.blend))) + contexts
