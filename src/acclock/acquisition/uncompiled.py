"""What the compiled kernels do, in NumPy and Python, for where there was no C compiler."""

import numpy as np
from numpy.typing import NDArray

from acclock.values import FloatArray


def survey(stamps: FloatArray, samples: FloatArray, /) -> tuple[float, float, float]:
    """Give the strongest magnitude, and the shortest and the longest step between stamps."""
    steps = stamps[1:] - stamps[:-1]
    strongest = np.abs(samples).max(initial=0.0)
    shortest, longest = steps.min(initial=np.inf), steps.max(initial=-np.inf)
    return float(strongest), float(shortest), float(longest)


def count_steps(
    times: FloatArray,
    due: float,
    hz: float,
    late: float,
    catch_up: float,
    out: NDArray[np.intp],
    /,
) -> tuple[float, int]:
    """Fill ``out`` with the slots from one sample to the next; give when another is due."""
    period = 1.0 / hz
    for place, time in enumerate(times.tolist()):
        behind = time - due
        if behind > late * period:
            due = time + period
            out[place] = 1 + max(1, round(behind * hz))
        else:
            due += period + catch_up * behind
            out[place] = 1
    return due, int(out.sum())


def place(
    times: FloatArray, moments: FloatArray, hz: float, fineness: float, out: FloatArray, /
) -> tuple[float, float, float]:
    """Fill ``out`` with where moments lie between slots; give jitter and extreme offsets."""
    beats = times * hz
    jitter = np.abs(beats[1:] - beats[:-1] - 1.0).max(initial=0.0)
    slots = np.searchsorted(times, moments, side="right") - 1
    slots = np.minimum(np.maximum(slots, 0), times.size - 2)
    shares = (moments - times[slots]) / (times[slots + 1] - times[slots])
    out[:] = slots + np.rint(np.minimum(np.maximum(shares, 0.0), 1.0) * fineness) / fineness
    offsets = np.abs(out - np.rint(out))
    least, most = offsets.min(initial=np.inf), offsets.max(initial=0.0)
    return float(jitter), float(least), float(most)


def interpolate(
    rows: FloatArray,
    count: int,
    positions: FloatArray,
    weights: FloatArray,
    taps: int,
    out: FloatArray,
    /,
) -> None:
    """Fill ``out`` with weighted sums of ``taps`` neighbors of each position in ``count`` rows.

    ``weights`` has one line of taps per phase between two samples, first and last included.
    """
    phases = weights.shape[0] - 1
    base = positions.astype(np.intp)
    places = (positions - base) * phases
    phase = np.minimum(places.astype(np.intp), phases - 1)
    between = places - phase
    out[:count] = 0.0
    for tap in range(taps):
        here = weights[phase, tap]
        out += (here + between * (weights[phase + 1, tap] - here)) * rows[:, base + (tap + 1)]
