"""The compiled loops of live clocks do what their twins do, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.acquisition import kernels, uncompiled
from acclock.values import FloatArray

STEPS = st.lists(st.sampled_from([0.002, 0.009, 0.01, 0.0101, 0.0174, 0.0176, 0.05, 1.0]))


def stamp(steps: list[float]) -> FloatArray:
    return np.cumsum([0.3, *steps])


@given(
    stamps=st.lists(st.floats(), max_size=6),
    samples=st.lists(st.floats(), max_size=12),
)
def test_a_chunk_is_surveyed_alike(stamps: list[float], samples: list[float]) -> None:
    chunk = np.array(stamps), np.array(samples)

    with np.errstate(all="ignore"):
        twin = uncompiled.survey(*chunk)

    np.testing.assert_array_equal(kernels.survey(*chunk), twin)


@given(steps=STEPS, due_s=st.floats(0.0, 1.0), hz=st.sampled_from([25.0, 99.7, 100.0, 400.0]))
def test_slots_are_counted_alike(steps: list[float], due_s: float, hz: float) -> None:
    times_s = stamp(steps)
    counted, twin = np.empty(times_s.size, np.intp), np.empty(times_s.size, np.intp)

    due, total = kernels.count_steps(times_s, due_s, hz, 0.75, 0.1, counted)

    assert (due, total) == uncompiled.count_steps(times_s, due_s, hz, 0.75, 0.1, twin)
    np.testing.assert_array_equal(counted, twin)
    assert total == counted.sum()


@given(steps=STEPS.filter(len), begin_s=st.floats(0.0, 2.0), count=st.integers(0, 30))
def test_moments_are_placed_alike(steps: list[float], begin_s: float, count: int) -> None:
    times_s, moments_s = stamp(steps), begin_s + np.arange(count) / 100.0
    placed, twin = np.empty(count), np.empty(count)

    measured = kernels.place(times_s, moments_s, 100.0, 2.0**40, placed)

    assert measured == uncompiled.place(times_s, moments_s, 100.0, 2.0**40, twin)
    np.testing.assert_array_equal(placed, twin)
    assert ((placed >= 0.0) & (placed <= len(steps))).all()


def test_room_that_does_not_fit_is_refused() -> None:
    pytest.importorskip("acclock.acquisition._clock")
    with pytest.raises(ValueError, match="one step for each time"):
        kernels.count_steps(np.zeros(3), 0.0, 100.0, 0.75, 0.1, np.empty(2, np.intp))
    with pytest.raises(ValueError, match="between two slots"):
        kernels.place(np.zeros(1), np.zeros(3), 100.0, 1.0, np.empty(3))
    with pytest.raises(ValueError, match="each in its place"):
        kernels.place(np.zeros(2), np.zeros(3), 100.0, 1.0, np.empty(2))
