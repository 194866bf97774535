"""Medians, quantiles and local means along time, as a network can take them."""

import torch
from torch import Tensor
from torch.nn import functional


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
