import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.denoising.context import check_contexts, close_ring, is_sample, mend
from acclock.errors import SignalError

RATE_HZ = 100.0
COUNT = 512


def lose(*gaps: tuple[int, int]) -> np.ndarray:
    received = np.ones(COUNT, dtype=bool)
    for start, end in gaps:
        received[start:end] = False
    return received


def test_a_context_without_gaps_is_left_alone() -> None:
    context = np.random.default_rng(1).normal(size=(3, COUNT))

    mended, fresh = mend(context, lose(), rate_hz=RATE_HZ)

    np.testing.assert_array_equal(mended, context)
    assert fresh == COUNT


@pytest.mark.parametrize(
    ("gaps", "fresh"),
    [
        ([(200, 250)], COUNT),
        ([(200, 251)], COUNT - 251),
        ([(100, 200), (300, 400)], COUNT - 400),
        ([(100, 200), (300, 310)], COUNT - 200),
        ([(0, 1)], COUNT - 1),
        ([(COUNT - 50, COUNT)], COUNT),
        ([(COUNT - 51, COUNT)], 0),
        ([(0, COUNT)], 0),
    ],
)
def test_what_came_since_the_last_long_gap(gaps: list[tuple[int, int]], fresh: int) -> None:
    _, measured = mend(np.ones((3, COUNT)), lose(*gaps), rate_hz=RATE_HZ)

    assert measured == fresh


def test_a_short_gap_is_bridged_by_a_line() -> None:
    slope = np.tile(np.arange(COUNT, dtype=float), (3, 1))
    received = lose((100, 140), (141, 180))

    mended, _ = mend(np.where(received, slope, 0.0), received, rate_hz=RATE_HZ)

    np.testing.assert_allclose(mended, slope)


def test_before_a_long_gap_lies_a_mirror_image_of_what_came_after() -> None:
    context = np.random.default_rng(2).normal(size=(1, COUNT))

    mended, _ = mend(context, lose((0, 10), (200, 300)), rate_hz=RATE_HZ)

    np.testing.assert_array_equal(mended[0, 300:], context[0, 300:])
    np.testing.assert_array_equal(mended[0, 88:300], context[0, 300:][::-1])


@given(data=st.data(), seed=st.integers(0, 99))
def test_wearers_are_mended_one_by_one_and_the_input_stays(data: st.DataObject, seed: int) -> None:
    draw = np.random.default_rng(seed)
    contexts, received = draw.normal(size=(4, 3, 128)), draw.random((4, 128)) > draw.random((4, 1))
    before = contexts.copy()

    mended, fresh = mend(contexts, received, rate_hz=RATE_HZ)

    who = data.draw(st.integers(0, 3))
    alone, alone_fresh = mend(contexts[who], received[who], rate_hz=RATE_HZ)
    np.testing.assert_array_equal(mended[who], alone)
    assert fresh[who] == alone_fresh
    np.testing.assert_array_equal(contexts, before)
    assert np.isfinite(mended).all()


@given(seed=st.integers(0, 99))
def test_closing_the_ring_joins_the_ends_and_spares_the_rest(seed: int) -> None:
    walk = np.cumsum(np.random.default_rng(seed).normal(size=(2, COUNT)), axis=-1)

    ring = close_ring(walk)

    np.testing.assert_allclose(ring[:, 0], walk[:, -1], atol=1e-2 * np.ptp(walk))
    np.testing.assert_array_equal(ring[:, COUNT // 8 :], walk[:, COUNT // 8 :])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, -1e308])
def test_what_no_sensor_sends_is_no_sample_and_is_refused(value: float) -> None:
    context = np.zeros(COUNT)
    context[7] = value

    assert not is_sample(context)[7]
    with pytest.raises(SignalError, match="not finite or that no sensor can send"):
        check_contexts(context, COUNT)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (3, COUNT - 1)])
def test_another_length_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(SignalError, match=f"has {COUNT} samples"):
        check_contexts(np.zeros(shape), COUNT)


@given(begin=st.integers(0, COUNT), seed=st.integers(0, 99))
def test_a_stream_that_has_just_begun_is_mended_as_any_other(begin: int, seed: int) -> None:
    context = np.random.default_rng(seed).normal(size=(3, COUNT))
    received = lose((0, begin))

    mended, fresh = mend(context, received, rate_hz=RATE_HZ)

    among_many, ages = mend(context[np.newaxis], received[np.newaxis], rate_hz=RATE_HZ)
    np.testing.assert_array_equal(mended, among_many[0])
    assert fresh == ages[0]
