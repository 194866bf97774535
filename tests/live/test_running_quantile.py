import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.live.wear_detector import RunningQuantile


@given(values=st.lists(st.floats(0.0, 9.0) | st.just(2.0), min_size=1, max_size=60))
def test_it_is_what_sorting_all_of_them_would_give(values: list[float]) -> None:
    usual = RunningQuantile(20)

    for count, value in enumerate(values, start=1):
        usual.add(value)
        last = values[max(0, count - 20) : count]

        assert len(usual) == len(last)
        assert usual.level == np.sort(last)[int(0.25 * len(last))]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_no_number_is_above_all_and_is_forgotten_in_its_turn(bad: float) -> None:
    usual = RunningQuantile(4)
    for value in (bad, 1.0, bad, 3.0, 4.0, 5.0, 6.0):
        usual.add(value)

    assert usual.level == 4.0
