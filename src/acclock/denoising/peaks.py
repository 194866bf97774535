"""The peaks of a signal: high above their surroundings and not too close together."""

import numpy as np
from numpy.typing import NDArray

from acclock.denoising import kernels
from acclock.values import FloatArray

IndexArray = NDArray[np.intp]


def find_peaks(signal: FloatArray, *, distance: int, prominence: float) -> IndexArray:
    """Give where one signal peaks, as indices in rising order.

    Of peaks closer than ``distance`` the higher stays; then those go that rise less than
    ``prominence`` above the higher of the two valleys beside them. A flat top counts as its
    middle. As in SciPy's function of the same name.

    >>> wave = np.array([0.0, 1.0, 0.2, 0.5, 0.0, 2.0, 0.0])
    >>> find_peaks(wave, distance=1, prominence=0.4)
    array([1, 5])
    """
    places = np.empty(len(signal), dtype=np.intp)
    count = kernels.find_peaks(np.ascontiguousarray(signal), distance, prominence, places)
    return places[:count].copy()
