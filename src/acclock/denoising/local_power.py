"""How lively a signal is around each of its samples."""

import numpy as np

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
