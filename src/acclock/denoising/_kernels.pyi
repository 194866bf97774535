import numpy as np
from numpy.typing import NDArray

from acclock.values import FloatArray

def median_magnitudes(values: FloatArray, count: int, out: FloatArray, /) -> None: ...
def fade(
    values: FloatArray, thresholds: FloatArray, count: int, power: float, out: FloatArray, /
) -> None: ...
def attenuate(
    values: FloatArray,
    powers: FloatArray,
    count: int,
    half: int,
    headroom: float,
    out: FloatArray,
    /,
) -> None: ...
def find_peaks(
    signal: FloatArray, distance: int, prominence: float, out: NDArray[np.intp], /
) -> int: ...
def roughness(values: FloatArray, count: int, out: FloatArray, /) -> None: ...
def liveliness(
    values: FloatArray,
    count: int,
    half: int,
    window: int,
    usual: FloatArray,
    highest: FloatArray,
    /,
) -> None: ...
def evenness(
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
) -> None: ...
def recurse(
    inputs: FloatArray,
    desired: FloatArray,
    forgetting: FloatArray,
    count: int,
    taps: int,
    confidence: float,
    out: FloatArray,
    /,
) -> None: ...
