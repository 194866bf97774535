"""What stage 2 remembers of each row: its last periodic stretch."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from acclock.denoising.config import DenoiseConfig
from acclock.values import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """The last periodic stretch of each row, zero where there was none yet.

    Paper: Sec. 4.2.2, where a periodic stretch serves as the reference of later ones.
    """

    windows: FloatArray
    """The stretch after stage 1: ``(rows, n)``."""
    powers: FloatArray
    """Mean square of its wavelet coefficients before shrinkage: ``(rows, levels)``."""

    @classmethod
    def unknown(cls, rows: int, config: DenoiseConfig) -> Self:
        return cls(
            np.zeros((rows, config.window_length)), np.zeros((rows, len(config.kept_levels)))
        )

    @property
    def known(self) -> BoolArray:
        return np.asarray((self.powers > 0).any(axis=-1))

    def remember(self, windows: FloatArray, coefficients: FloatArray, rows: BoolArray) -> Self:
        """Give the reference with these stretches in place of what it knew of ``rows``."""
        if not rows.any():
            return self
        powers = np.square(coefficients[rows]).mean(axis=-1)
        return self._replace(rows, windows[rows], powers)

    def forget(self, rows: BoolArray) -> Self:
        """Give the reference without what it knew of ``rows``: it may be another wearer now."""
        if not rows.any():
            return self
        return self._replace(rows, 0.0, 0.0)

    def _replace(
        self, rows: BoolArray, windows: FloatArray | float, powers: FloatArray | float
    ) -> Self:
        all_windows, all_powers = self.windows.copy(), self.powers.copy()
        all_windows[rows], all_powers[rows] = windows, powers
        return type(self)(all_windows, all_powers)
