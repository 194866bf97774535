"""The band-pass of the pipeline as matrix products, so that it can be part of a network."""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from acclock.denoising.bandpass import bandpass

_EDGE_S = 2.0
"""How much of each end is mirrored; as in :mod:`acclock.denoising.bandpass`."""

Complex = tuple[Tensor, Tensor]
"""Real and imaginary part: runtimes of networks know no complex numbers."""


class BandPass(nn.Module):
    """Contexts in, the same contexts with only a band left, as :func:`bandpass` gives them.

    Ours (docs/decisions/0021). The Fourier transform of ``a * b`` samples is a product with a
    matrix of ``a``, a turn of the phases and a product with a matrix of ``b``. ONNX has an
    operator for it, which at these lengths is slower and wrong in the third digit.
    """

    def __init__(self, *, count: int, rate_hz: float, low_hz: float, high_hz: float) -> None:
        super().__init__()
        self.edge = int(_EDGE_S * rate_hz)
        whole = count + 2 * self.edge
        self.rows = max(n for n in range(1, math.isqrt(whole) + 1) if whole % n == 0)
        columns = whole // self.rows
        gain = _measure_gain(count, self.edge, rate_hz, (low_hz, high_hz))
        # Sample ``columns * t + u`` and frequency ``k + rows * m`` share a place each.
        self._hold("along_rows", _waves(self.rows, self.rows, self.rows))
        self._hold("along_columns", _waves(columns, columns, columns))
        self._hold("turn", _waves(self.rows, columns, whole))
        self.gain: Tensor
        self.register_buffer("gain", _single(gain.reshape(columns, self.rows).T / whole))

    def forward(self, contexts: Tensor) -> Tensor:
        count = contexts.shape[-1]
        centered = contexts - contexts.mean(dim=-1, keepdim=True)
        padded = _mirror_ends(centered, self.edge)
        grid = padded.reshape(*padded.shape[:-1], self.rows, -1)
        filtered = self._turn_back(self._transform(grid)).flatten(-2)
        return filtered[..., self.edge : self.edge + count]

    def _transform(self, grid: Tensor) -> Complex:
        real, imaginary = self._held("along_rows")
        turned = _multiply((real @ grid, imaginary @ grid), self._held("turn"))
        return _combine(turned, self._held("along_columns"))

    def _turn_back(self, spectrum: Complex) -> Tensor:
        """Give the real signal whose spectrum this is, with the gain applied."""
        louder = (spectrum[0] * self.gain, -spectrum[1] * self.gain)
        mixed = _multiply(_combine(louder, self._held("along_columns")), self._held("turn"))
        real, imaginary = self._held("along_rows")
        return real @ mixed[0] - imaginary @ mixed[1]

    def _hold(self, name: str, waves: NDArray[np.complex128]) -> None:
        self.register_buffer(f"{name}_real", _single(waves.real))
        self.register_buffer(f"{name}_imaginary", _single(waves.imag))

    def _held(self, name: str) -> Complex:
        return self.get_buffer(f"{name}_real"), self.get_buffer(f"{name}_imaginary")


def _measure_gain(
    count: int, edge: int, rate_hz: float, band_hz: tuple[float, float]
) -> NDArray[np.float64]:
    """Ask the filter itself, by an impulse so far from both ends that neither is heard."""
    impulse = np.zeros(count)
    impulse[count // 2] = 1.0
    kernel = bandpass(impulse, rate_hz=rate_hz, low_hz=band_hz[0], high_hz=band_hz[1])
    ring = np.roll(np.pad(kernel, (0, 2 * edge)), -(count // 2))
    return np.asarray(np.fft.fft(ring).real)


def _waves(rows: int, columns: int, length: int) -> NDArray[np.complex128]:
    turns = np.outer(np.arange(rows), np.arange(columns)) / length
    return np.asarray(np.exp(-2j * np.pi * turns))


def _single(values: NDArray[np.float64]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))


def _multiply(one: Complex, other: Complex) -> Complex:
    return one[0] * other[0] - one[1] * other[1], one[0] * other[1] + one[1] * other[0]


def _combine(one: Complex, other: Complex) -> Complex:
    return one[0] @ other[0] - one[1] @ other[1], one[0] @ other[1] + one[1] @ other[0]


def _mirror_ends(signals: Tensor, edge: int) -> Tensor:
    before = 2 * signals[..., :1] - signals[..., 1 : edge + 1].flip(-1)
    after = 2 * signals[..., -1:] - signals[..., -edge - 1 : -1].flip(-1)
    return torch.cat([before, signals, after], dim=-1)
