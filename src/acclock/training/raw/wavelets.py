"""Stage 1 as part of a network: contexts to wavelet levels and back, what is small faded."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.context import close_ring
from acclock.denoising.inherent import bank_of
from acclock.denoising.shrinkage import find_thresholds
from acclock.training.raw.fourier import Fourier, scale
from acclock.training.raw.order import median

_NOTHING = 1e-300


class Levels(NamedTuple):
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

    def split(self, contexts: Tensor) -> Levels:
        """Take contexts apart into the levels that are kept."""
        spectra = self.fourier(self._close_ring(contexts).unsqueeze(1))
        coefficients = self.fourier.turn_back(scale(spectra, self.forth))
        medians = median(coefficients.abs()).unsqueeze(-1)
        return Levels(coefficients, medians * self.threshold_of_one)

    def join(self, levels: Levels) -> Tensor:
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
