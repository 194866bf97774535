from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import signal

from acclock.acquisition import resampling, uncompiled
from acclock.acquisition.even import change_rate, check_samples, even_out, gaps_of
from acclock.errors import SignalError
from acclock.values import FloatArray, Recording

INSIDE = slice(300, -300)


def tones(times_s: FloatArray, frequency_hz: float) -> FloatArray:
    phases = 2 * np.pi * frequency_hz * times_s + np.array([[0.0], [1.0], [2.0]])
    return np.asarray(9.8 + np.sin(phases), dtype=np.float64)


def test_samples_on_a_perfect_grid_come_back_as_they_were() -> None:
    samples = np.random.default_rng(0).normal(size=(3, 1000))

    even = even_out(np.arange(1000) / 100.0, samples)

    np.testing.assert_array_equal(even.samples, samples)
    assert even.received.all()
    assert even.gaps == ()


@pytest.mark.parametrize("rate_hz", [99.4, 100.7, 204.9, 251.6, 398.0])
@pytest.mark.parametrize("frequency_hz", [1.0, 12.0, 25.0, 40.0])
def test_a_tone_that_fits_is_kept(rate_hz: float, frequency_hz: float) -> None:
    stamps_s = np.arange(0, 60, 1 / rate_hz)

    even = even_out(stamps_s, tones(stamps_s, frequency_hz), rate_hz=100.0)

    expected = tones(np.arange(even.samples.shape[1]) / 100.0, frequency_hz)
    np.testing.assert_allclose(even.samples[:, INSIDE], expected[:, INSIDE], atol=5e-4)


@pytest.mark.parametrize(("rate_hz", "new_hz"), [(398.0, 100.0), (100.0, 50.0), (204.9, 25.0)])
@pytest.mark.parametrize("above", [1.01, 1.3, 1.9])
def test_a_tone_that_would_fold_back_is_removed(
    rate_hz: float, new_hz: float, above: float
) -> None:
    stamps_s = np.arange(0, 100, 1 / rate_hz)
    samples = tones(stamps_s, above * new_hz / 2) - 9.8

    even = even_out(stamps_s, samples, rate_hz=new_hz)

    assert np.abs(even.samples[:, INSIDE]).max() < 1e-3


@pytest.mark.parametrize(("up", "down"), [(1, 2), (3, 4), (1, 4)])
def test_it_agrees_with_scipy_where_both_pass(up: int, down: int) -> None:
    generator = np.random.default_rng(5)
    wide = generator.normal(size=(3, 8000))
    low = signal.sosfiltfilt(signal.butter(8, 0.6 * up / down, output="sos"), wide)

    ours = even_out(np.arange(8000) / 100.0, low, rate_hz=100.0 * up / down).samples

    theirs = signal.resample_poly(low, up, down, axis=1, window=("kaiser", 8.0))
    np.testing.assert_allclose(ours[:, INSIDE], theirs[:, : ours.shape[1]][:, INSIDE], atol=5e-3)


def test_jittered_stamps_are_taken_at_their_word() -> None:
    generator = np.random.default_rng(7)
    stamps_s = (np.arange(4000) + generator.uniform(-0.2, 0.2, 4000)) / 100.0

    even = even_out(stamps_s, tones(stamps_s, 3.0))

    grid_s = np.arange(even.samples.shape[1]) / even.rate_hz + stamps_s[0]
    expected = tones(grid_s, 3.0)
    np.testing.assert_allclose(even.samples[:, INSIDE], expected[:, INSIDE], atol=0.01)


@given(
    begin=st.integers(100, 600),
    length=st.integers(1, 300),
    rate_hz=st.sampled_from([99.4, 100.0, 204.9]),
)
def test_a_gap_is_masked_and_nothing_else(begin: int, length: int, rate_hz: float) -> None:
    stamps_s = np.delete(np.arange(1000) / rate_hz, slice(begin, begin + length))
    samples = tones(stamps_s, 2.0)

    even = even_out(stamps_s, samples, rate_hz=100.0)

    (gap,) = even.gaps
    assert gap.length_s == pytest.approx(length / rate_hz, abs=1e-6)
    assert gap.start_s == pytest.approx((begin - 0.5) / rate_hz, abs=1e-6)
    grid_s = np.arange(even.received.size) / 100.0
    deep = (grid_s > gap.start_s + 0.005) & (grid_s < gap.start_s + gap.length_s - 0.005)
    outside = (grid_s < gap.start_s - 0.005) | (grid_s > gap.start_s + gap.length_s + 0.005)
    assert not even.received[deep].any()
    assert even.received[outside].all()


@given(seed=st.integers(0, 2**32 - 1), loss=st.floats(0.0, 0.4))
def test_on_its_own_grid_exactly_the_lost_samples_are_masked(seed: int, loss: float) -> None:
    kept = np.random.default_rng(seed).random(800) >= loss
    kept[[0, -1]] = True
    samples = np.random.default_rng(1).normal(size=(3, 800))

    even = even_out(np.flatnonzero(kept) / 50.0, samples[:, kept])

    np.testing.assert_array_equal(even.received, kept)
    np.testing.assert_array_equal(even.samples[:, kept], samples[:, kept])


def test_the_kernel_agrees_with_its_numpy_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(2).normal(size=(3, 500))
    positions = np.sort(np.random.default_rng(3).uniform(0, 499, 321))

    compiled = {ratio: resampling.interpolate(rows, positions, ratio=ratio) for ratio in (0.3, 1.0)}
    monkeypatch.setattr(resampling, "kernel", uncompiled)

    for ratio, result in compiled.items():
        twin = resampling.interpolate(rows, positions, ratio=ratio)
        np.testing.assert_allclose(result, twin, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("count", [1, 2, 24, 25, 400])
@pytest.mark.parametrize("reach", [1, 24, 60])
def test_rows_go_on_beyond_their_ends_as_numpy_pads_them(count: int, reach: int) -> None:
    rows = np.random.default_rng(count).normal(size=(3, count))
    mode: Any = {"mode": "edge"} if count < 2 else {"mode": "reflect", "reflect_type": "odd"}

    continued = resampling._continue_beyond_ends(rows, reach)

    np.testing.assert_array_equal(continued, np.pad(rows, ((0, 0), (reach, reach)), **mode))


def test_the_order_of_samples_in_memory_does_not_matter() -> None:
    rows = np.random.default_rng(2).normal(size=(3, 500))
    positions = np.arange(0, 499, 1.7)

    result = resampling.interpolate(np.asfortranarray(rows), positions, ratio=0.6)

    np.testing.assert_array_equal(result, resampling.interpolate(rows, positions, ratio=0.6))


@pytest.mark.parametrize("position", [-0.1, 499.0 + 49.0, np.nan, np.inf])
def test_the_kernel_refuses_to_look_outside(position: float) -> None:
    compiled = pytest.importorskip("acclock.acquisition._interpolation")
    rows, weights = np.zeros((3, 548)), np.zeros((2, 48))

    with pytest.raises(ValueError, match="do not fit"):
        compiled.interpolate(rows, 3, np.array([position]), weights, 48, np.zeros((3, 1)))


def test_a_recording_changes_its_rate_with_its_mask() -> None:
    received = np.ones(1000, dtype=bool)
    received[400:600] = False
    samples = tones(np.arange(1000) / 100.0, 2.0)

    slower = change_rate(Recording(samples=samples, rate_hz=100.0, received=received), 25.0)

    assert slower.samples.shape == (3, 250)
    assert np.flatnonzero(~slower.received).tolist() == list(range(100, 150))
    expected = tones(np.arange(250) / 25.0, 2.0)
    np.testing.assert_allclose(slower.samples[:, 30:80], expected[:, 30:80], atol=0.02)


@given(seed=st.integers(0, 2**32 - 1), rate_hz=st.sampled_from([25.0, 60.0, 100.0, 400.0]))
def test_a_change_of_rate_keeps_the_duration_and_touches_nothing(seed: int, rate_hz: float) -> None:
    generator = np.random.default_rng(seed)
    recording = Recording(
        samples=generator.normal(size=(3, 400)), rate_hz=100.0, received=generator.random(400) > 0.2
    )
    before = recording.samples.copy()

    changed = change_rate(recording, rate_hz)

    assert changed.samples.shape[1] == changed.received.size == round(4.0 * rate_hz)
    np.testing.assert_array_equal(recording.samples, before)


def test_gaps_of_a_recording_are_its_missing_stretches() -> None:
    received = np.array([True, False, False, True, True, False])

    gaps = gaps_of(Recording(samples=np.zeros((3, 6)), rate_hz=10.0, received=received))

    starts_and_lengths = [(gap.start_s, gap.length_s) for gap in gaps]
    np.testing.assert_allclose(starts_and_lengths, [(0.05, 0.2), (0.45, 0.1)])


def test_too_many_samples_are_refused_before_they_are_made() -> None:
    stamps_s = np.append(np.arange(1000) / 1000.0, 40 * 3600.0)

    with pytest.raises(SignalError, match="too many"):
        even_out(stamps_s, np.zeros((3, 1001)))


@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        (np.array([[0.0, np.nan], [0, 1], [0, 1]]), "sample 2 is not a finite number"),
        (np.array([[0.0, 1.0], [np.inf, 1], [0, 1]]), "sample 1 is not a finite number"),
        (np.ones((3, 9)), "constant"),
    ],
)
def test_samples_that_cannot_be_used_are_refused(samples: FloatArray, sentence: str) -> None:
    with pytest.raises(SignalError, match=sentence):
        check_samples(samples)
