import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.acquisition.windows import MaskedRing, Ring, all_of, cut
from acclock.errors import ConfigError, SignalError
from acclock.values import Recording

RATE_HZ = 100.0


@given(chunk_lengths=st.lists(st.integers(0, 250), min_size=1), step=st.integers(1, 150))
def test_ring_gives_the_windows_of_cut(chunk_lengths: list[int], step: int) -> None:
    samples = np.arange(3.0 * sum(chunk_lengths)).reshape(3, -1)
    ring: Ring[np.float64] = Ring(length=100, step=step)

    chunks = np.split(samples, np.cumsum(chunk_lengths)[:-1], axis=1)
    streamed = [window for chunk in chunks for window in ring.push(chunk)]

    whole = Recording(samples=samples, rate_hz=RATE_HZ)
    np.testing.assert_array_equal(streamed, cut(whole, window_s=1.0, step_s=step / RATE_HZ))


@given(count=st.integers(0, 700), window=st.integers(1, 200), step=st.integers(1, 300))
def test_cut_is_slicing_at_every_step(count: int, window: int, step: int) -> None:
    samples = np.arange(3.0 * count).reshape(3, count)
    recording = Recording(samples=samples, rate_hz=1.0)

    windows = cut(recording, window_s=window, step_s=step)

    expected = [samples[:, s : s + window] for s in range(0, count - window + 1, step)]
    assert len(windows) == len(expected)
    for ours, naive in zip(windows, expected, strict=True):
        np.testing.assert_array_equal(ours, naive)


def test_a_window_is_a_copy_that_later_chunks_leave_alone() -> None:
    ring: Ring[np.float64] = Ring(length=2, step=1)
    chunk = np.array([1.0, 2.0])

    (window,) = ring.push(chunk)
    chunk[:] = 9.0
    ring.push(np.array([3.0]))

    assert window.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(("length", "step"), [(0, 1), (1, 0), (-3, 1)])
def test_a_window_without_samples_is_refused(length: int, step: int) -> None:
    with pytest.raises(ConfigError, match="have samples"):
        Ring(length=length, step=step)


def test_a_chunk_with_other_axes_is_refused() -> None:
    ring: Ring[np.float64] = Ring(length=2, step=1)
    ring.push(np.zeros((3, 1)))

    with pytest.raises(SignalError, match="has the axes of the first"):
        ring.push(np.zeros((2, 1)))


@given(
    chunks=st.lists(st.lists(st.booleans() | st.just(True), max_size=30), min_size=1),
    length=st.integers(1, 12),
    step=st.integers(1, 15),
)
def test_a_reel_gives_what_two_rings_give(chunks: list[list[bool]], length: int, step: int) -> None:
    masked = MaskedRing(length=length, step=step)
    plain: Ring[np.float64] = Ring(length=length, step=step)
    masks: Ring[np.bool_] = Ring(length=length, step=step)
    begin = 0.0

    for chunk in chunks:
        received = np.array(chunk, dtype=bool)
        samples = begin + np.arange(3.0 * len(chunk)).reshape(3, -1)
        begin += samples.size
        together = masked.push(samples, received)
        apart = zip(plain.push(samples), masks.push(received), strict=True)
        for (window, arrived), (samples_alone, received_alone) in zip(together, apart, strict=True):
            np.testing.assert_array_equal(window, samples_alone)
            np.testing.assert_array_equal(arrived, received_alone)
            assert (arrived is all_of(arrived.shape)) <= bool(received_alone.all())


def test_the_mask_of_a_whole_window_cannot_be_written_to() -> None:
    [(_, arrived)] = MaskedRing(length=2, step=1).push(np.zeros((3, 2)), np.ones(2, dtype=bool))

    with pytest.raises(ValueError, match="read-only"):
        arrived[0] = False


def test_a_reel_refuses_other_axes_and_other_masks() -> None:
    masked = MaskedRing(length=2, step=1)
    masked.push(np.zeros((3, 1)), np.ones(1, dtype=bool))

    with pytest.raises(SignalError, match=r"axes of the first, \(3,\); this has \(2,\)"):
        masked.push(np.zeros((2, 1)), np.ones(1, dtype=bool))
    with pytest.raises(SignalError, match=r"a mask has shape \(4,\), not \(3,\)"):
        masked.push(np.zeros((3, 4)), np.ones(3, dtype=bool))
