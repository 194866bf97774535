"""What ``_kernels.c`` does, in NumPy, for where there was no C compiler."""

import numpy as np
from numpy.typing import NDArray

from acclock.denoising.local_power import measure_local_power
from acclock.values import FloatArray

CALM_TO_USUAL = 1.5
"""How much livelier than its calmest quarter a heartbeat usually is."""


def median_magnitudes(values: FloatArray, count: int, out: FloatArray, /) -> None:
    """Write the median of the absolute values of every row of ``count``."""
    magnitudes = np.abs(values).reshape(-1, count)
    middle = [(count - 1) // 2, count // 2]
    out.reshape(-1)[:] = np.partition(magnitudes, middle, axis=-1)[:, middle].mean(axis=-1)


def fade(
    values: FloatArray, thresholds: FloatArray, count: int, power: float, out: FloatArray, /
) -> None:
    """Write the values of every row, those far below its threshold faded towards zero."""
    rows, limits = values.reshape(-1, count), thresholds.reshape(-1, 1)
    with np.errstate(over="ignore"):  # beyond all bounds is as good as unbounded
        ratios = np.divide(np.abs(rows), limits, out=np.full(rows.shape, np.inf), where=limits > 0)
        raised = ratios if power == 1.0 else ratios**power
    out.reshape(-1, count)[:] = rows * -np.expm1(-raised)


def attenuate(  # the signature of the compiled twin
    values: FloatArray,
    powers: FloatArray,
    count: int,
    half: int,
    headroom: float,
    out: FloatArray,
    /,
) -> None:
    """Write the values of every row, turned down where their local power exceeds the usual."""
    rows, usual = values.reshape(-1, count), powers.reshape(-1, 1)
    local = np.maximum(measure_local_power(rows, half), np.finfo(np.float64).tiny)
    # Every eighth will do: neighbors share most of the samples that they are averages of.
    rank = ((count + 7) // 8 - 1) // 4
    calm = np.partition(local[:, ::8], rank, axis=-1)[:, rank, np.newaxis]
    usual = np.where(usual > 0, usual, CALM_TO_USUAL * calm)
    with np.errstate(over="ignore"):
        gains = np.minimum(1.0, headroom * usual / local)
    out.reshape(-1, count)[:] = rows * gains


def find_peaks(
    signal: FloatArray, distance: int, prominence: float, out: NDArray[np.intp], /
) -> int:
    """Write where one signal peaks; return how often."""
    tops = _find_tops(signal)
    kept = [
        top
        for top in _keep_apart(signal, tops, distance)
        if _measure_prominence(signal, top) >= prominence
    ]
    out[: len(kept)] = kept
    return len(kept)


def _find_tops(signal: FloatArray) -> list[int]:
    steps = np.diff(signal)
    moves = np.flatnonzero(steps)
    turns = np.flatnonzero((steps[moves[:-1]] > 0) & (steps[moves[1:]] < 0))
    return [int(top) for top in (moves[turns] + 1 + moves[turns + 1]) // 2]


def _keep_apart(signal: FloatArray, tops: list[int], distance: int) -> list[int]:
    kept: list[int] = []
    for top in sorted(tops, key=lambda place: (signal[place], place), reverse=True):
        if all(abs(top - other) >= distance for other in kept):
            kept.append(top)
    return sorted(kept)


def _measure_prominence(signal: FloatArray, top: int) -> float:
    higher = np.flatnonzero(signal > signal[top])
    side = int(np.searchsorted(higher, top))
    left = higher[side - 1] + 1 if side > 0 else 0
    right = higher[side] if side < len(higher) else len(signal)
    valley = max(signal[left : top + 1].min(), signal[top:right].min())
    return float(signal[top] - valley)


def recurse(  # noqa: PLR0913  # the signature of the compiled twin
    inputs: FloatArray,
    desired: FloatArray,
    forgetting: FloatArray,
    count: int,
    taps: int,
    confidence: float,
    out: FloatArray,
    /,
) -> None:
    """Write the answers of recursive least squares, every row learning for itself."""
    heard, wanted, factors = (a.reshape(-1, count) for a in (inputs, desired, forgetting))
    answers = out.reshape(-1, count)
    weights = np.zeros((len(heard), taps))
    inverse = np.tile(np.eye(taps) * confidence, (len(heard), 1, 1))
    recent = np.zeros((len(heard), taps))
    for now in range(count):
        recent = np.concatenate([heard[:, now, None], recent[:, :-1]], axis=1)
        gain = np.einsum("rij,rj->ri", inverse, recent)
        spread = factors[:, now] + (gain * recent).sum(axis=1)
        answers[:, now] = (weights * recent).sum(axis=1)
        weights += gain * ((wanted[:, now] - answers[:, now]) / spread)[:, None]
        inverse -= gain[:, :, None] * gain[:, None, :] / spread[:, None, None]
        small = np.einsum("rii->r", inverse) <= confidence * taps * factors[:, now]
        growth = np.where(small, 1.0 / factors[:, now], 1.0)
        inverse *= growth[:, None, None]
