"""The Fourier transform as matrix products, so that it can be part of a network."""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

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
