"""Stage 1: what always disturbs, the device's noise, breathing and sway, taken out."""

from dataclasses import dataclass
from functools import lru_cache

from acclock.denoising.bank import Bank, build_bank
from acclock.denoising.config import DenoiseConfig
from acclock.denoising.shrinkage import find_thresholds, shrink
from acclock.values import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """The kept wavelet levels of some contexts, with what noise reaches in each."""

    coefficients: FloatArray
    """``(rows, levels, context)``."""
    thresholds: FloatArray
    """``(rows, levels)``."""


def split(contexts: FloatArray, config: DenoiseConfig) -> Bands:
    """Take contexts apart into the levels that are kept.

    Paper: Sec. 4.1.1. Shapes: ``(rows, context)``; the ends of a context should meet.
    """
    coefficients = bank_of(config).decompose(contexts)
    return Bands(coefficients, find_thresholds(coefficients))


def join(bands: Bands, config: DenoiseConfig) -> FloatArray:
    """Put the levels together again, with what is small in each faded away: ``(rows, context)``.

    Paper: Sec. 4.1.2.
    """
    power = config.shrink_power
    return bank_of(config).recompose(
        shrink(bands.coefficients, threshold=bands.thresholds, power=power)
    )


@lru_cache(maxsize=16)
def bank_of(config: DenoiseConfig) -> Bank:
    """Give the filters of the levels that a config keeps."""
    return build_bank(config.context_length, config.levels, config.kept_levels)
