import numpy as np
from numpy.typing import NDArray

from acclock.values import FloatArray

def survey(stamps: FloatArray, samples: FloatArray, /) -> tuple[float, float, float]: ...
def count_steps(
    times: FloatArray,
    due: float,
    hz: float,
    late: float,
    catch_up: float,
    out: NDArray[np.intp],
    /,
) -> tuple[float, int]: ...
def place(
    times: FloatArray, moments: FloatArray, hz: float, fineness: float, out: FloatArray, /
) -> tuple[float, float, float]: ...
