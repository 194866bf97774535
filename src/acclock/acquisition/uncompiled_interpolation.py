"""What ``_interpolation.c`` does, in NumPy, for where there was no C compiler."""

import numpy as np

from acclock.values import FloatArray


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
