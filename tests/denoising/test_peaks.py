import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import signal as oracle

from acclock.denoising.periodicity import find_peaks

SIGNALS = arrays.arrays(
    np.float64, st.integers(0, 120), elements=st.floats(-9, 9, width=32), unique=True
)


@given(signal=SIGNALS, distance=st.integers(1, 60), prominence=st.floats(0, 3))
def test_peaks_are_those_of_scipy(signal: np.ndarray, distance: int, prominence: float) -> None:
    ours = find_peaks(signal, distance=distance, prominence=prominence)

    expected, _ = oracle.find_peaks(signal, distance=distance, prominence=prominence)
    np.testing.assert_array_equal(ours, expected)


@given(
    signal=arrays.arrays(np.float64, st.integers(0, 60), elements=st.sampled_from([0.0, 1.0, 2.0]))
)
def test_flat_tops_count_as_their_middle_as_in_scipy(signal: np.ndarray) -> None:
    ours = find_peaks(signal, distance=1, prominence=0.0)

    np.testing.assert_array_equal(ours, oracle.find_peaks(signal, prominence=0.0)[0])


@pytest.mark.parametrize("signal", [[], [1.0], [1.0, 2.0], [2.0, 2.0, 2.0], [1.0, 2.0, 3.0]])
def test_what_does_not_go_up_and_down_has_no_peak(signal: list[float]) -> None:
    assert len(find_peaks(np.array(signal), distance=1, prominence=0.0)) == 0
