"""What the compiled kernels do, in NumPy, for where there was no C compiler."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from acclock.values import FloatArray


def measure_local_power(signals: FloatArray, half: int) -> FloatArray:
    """Give the mean square over ``half`` samples to either side of each, fewer at the ends.

    >>> measure_local_power(np.array([0.0, 3.0, 0.0, 0.0]), 1)
    array([4.5, 3. , 3. , 0. ])
    """
    count, half = signals.shape[-1], min(half, signals.shape[-1])
    sums = np.zeros((*signals.shape[:-1], count + 2 * half + 1))
    np.cumsum(np.square(signals), axis=-1, out=sums[..., half + 1 : half + 1 + count])
    sums[..., half + 1 + count :] = sums[..., half + count, np.newaxis]
    places = np.arange(count)
    sizes = np.minimum(places + half + 1, count) - np.maximum(places - half, 0)
    # A sum taken from a sum may by rounding leave a little less than nothing.
    return np.asarray(np.maximum(sums[..., 2 * half + 1 :] - sums[..., :count], 0.0) / sizes)


def pass_band(  # the signature of the compiled twin
    rows: FloatArray,
    count: int,
    edge: int,
    gain: FloatArray,
    _turns: FloatArray,
    keep: int,
    out: FloatArray,
    /,
) -> None:
    """Write the ends of rows, every frequency scaled by its gain."""
    signals = rows.reshape(-1, count)
    centered = signals - signals.mean(axis=-1, keepdims=True)
    padded = np.pad(centered, ((0, 0), (edge, edge)), mode="reflect", reflect_type="odd")
    passed = np.fft.irfft(np.fft.rfft(padded) * gain, padded.shape[-1])
    out.reshape(-1, keep)[:] = passed[:, edge + count - keep : edge + count]


CALM_TO_USUAL = 1.5
"""How much livelier than its calmest quarter a heartbeat usually is."""


def median_magnitudes(values: FloatArray, count: int, out: FloatArray, /) -> None:
    """Write the median of the absolute values of every row of ``count``."""
    magnitudes = np.abs(values).reshape(-1, count)
    middle = [(count - 1) // 2, count // 2]
    out.reshape(-1)[:] = np.partition(magnitudes, middle, axis=-1)[:, middle].mean(axis=-1)


def roughness(values: FloatArray, count: int, out: FloatArray, /) -> None:
    """Write the median magnitude of the second differences of every row of ``count``."""
    if count > 2:
        median_magnitudes(np.diff(values.reshape(-1, count), n=2), count - 2, out)
    else:
        out[:] = 0.0


def liveliness(
    values: FloatArray,
    count: int,
    half: int,
    window: int,
    usual: FloatArray,
    highest: FloatArray,
    /,
) -> None:
    """Write the usual local power of every row, and the highest of its last ``window`` samples."""
    local = measure_local_power(values.reshape(-1, count), half)
    some = np.ascontiguousarray(local[:, ::8])
    median_magnitudes(some, some.shape[-1], usual)
    highest.reshape(-1)[:] = local[:, count - window :].max(axis=-1)


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


def evenness(  # noqa: PLR0913  # the signature of the compiled twin
    values: FloatArray,
    count: int,
    distance: int,
    closest: int,
    interval: float,
    prominence: float,
    in_time: float,
    in_height: float,
    out: FloatArray,
    /,
) -> None:
    """Write how the intervals between the peaks of every row vary.

    Where those at ``distance`` are uneven, peaks may be as close as ``closest``, if they then
    follow each other evenly and faster than ``interval``.
    """
    for place, row in enumerate(values.reshape(-1, count)):
        centered = row - row.mean()
        spread = float(np.sqrt(np.square(centered).mean()))
        usual, *rest = _measure_rhythm(centered, spread, distance, prominence)
        if not (usual < in_time and rest[0] < in_height):
            fast, height, mean = _measure_rhythm(centered, spread, closest, prominence)
            usual = fast if fast < in_time and height < in_height and mean < interval else usual
        out.reshape(-1)[place] = usual


def _measure_rhythm(
    centered: FloatArray, spread: float, distance: int, prominence: float
) -> tuple[float, float, float]:
    """Give how the intervals and the heights of peaks vary, and the mean interval."""
    places = np.empty(len(centered), dtype=np.intp)
    normalized = centered / (spread or 1.0)
    found = places[: find_peaks(normalized, distance, prominence, places)] if spread else places[:0]
    if len(found) < 3:
        return np.inf, np.inf, 0.0
    intervals, heights = np.diff(found), normalized[found]
    return _vary(intervals), _vary(heights), float(intervals.mean())


def _vary(values: FloatArray | NDArray[np.intp]) -> float:
    mean = float(values.mean())
    return float(values.std()) / mean if mean > 0 else np.inf


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


def resemble(  # the signature of the compiled twin
    rows: FloatArray, count: int, block: int, hop: int, lag: int, out: FloatArray, /
) -> None:
    """Write how well rows repeat themselves, as a mean over their blocks."""
    blocks = sliding_window_view(rows.reshape(-1, count), block, axis=-1)[:, ::hop]
    centered = blocks - blocks.mean(axis=-1, keepdims=True)
    energies = np.einsum("wbn,wbn->wb", centered, centered)[..., np.newaxis]
    spectra = np.fft.rfft(centered, 2 * block)
    powers = np.square(spectra.real) + np.square(spectra.imag)
    # added up before they are transformed back, which is the same and a third of the work
    np.divide(powers, energies, out=powers, where=energies > 0)
    powers[(energies == 0)[..., 0]] = 0.0
    total = np.fft.irfft(powers.sum(axis=1), 2 * block)[:, :block]
    likeness = total / blocks.shape[1] / (1.0 - np.arange(block) / block)
    out[:] = likeness[:, lag : lag + out.shape[-1]]
