import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.acquisition.clock import nominal_rate, read_clock
from acclock.errors import SignalError, TooShortError
from acclock.values import FloatArray

RATES_HZ = st.floats(12.0, 1000.0)


@given(
    rate_hz=RATES_HZ,
    loss=st.floats(0.0, 0.3),
    jitter=st.floats(0.0, 0.3),
    ticks_per_period=st.sampled_from([None, 4, 7, 50]),
    pause_s=st.sampled_from([0.0, 0.7, 20.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_rate_is_right_or_refused(
    rate_hz: float,
    loss: float,
    jitter: float,
    ticks_per_period: int | None,
    pause_s: float,
    seed: int,
) -> None:
    generator = np.random.default_rng(seed)
    stamps_s = (np.arange(1500) + generator.uniform(-jitter, jitter, 1500)) / rate_hz
    stamps_s[700:] += pause_s
    stamps_s = stamps_s[np.concatenate(([True], generator.random(1499) >= loss))]
    if ticks_per_period is not None:
        tick_s = 1.0 / rate_hz / ticks_per_period
        stamps_s = np.floor(stamps_s / tick_s) * tick_s

    try:
        clock = read_clock(stamps_s)
    except SignalError:
        return

    assert clock.rate_hz == pytest.approx(rate_hz, rel=0.015)


@pytest.mark.parametrize(("rate_hz", "tick_s"), [(75.0, 0.01), (950.0, 0.001), (800.0, 0.001)])
def test_a_coarse_clock_without_losses_is_seen_through(rate_hz: float, tick_s: float) -> None:
    stamps_s = np.floor(np.arange(3000) / rate_hz / tick_s + 1e-9) * tick_s

    clock = read_clock(stamps_s[np.concatenate(([True], np.diff(stamps_s) > 0))])

    assert clock.rate_hz == pytest.approx(rate_hz, rel=0.002)
    assert not clock.silent.any()


def test_lost_samples_on_a_perfect_grid_are_gaps() -> None:
    kept = np.delete(np.arange(1000), [10, 200, 201, 202, 900])

    clock = read_clock(kept / 100.0)

    assert clock.rate_hz == pytest.approx(100.0)
    assert np.flatnonzero(clock.silent).tolist() == [9, 198, 895]


def test_jitter_is_not_a_gap() -> None:
    generator = np.random.default_rng(3)
    stamps_s = (np.arange(2000) + generator.normal(0.0, 0.17, 2000)) / 50.0

    clock = read_clock(stamps_s)

    assert clock.rate_hz == pytest.approx(50.0, rel=0.005)
    assert clock.silent.mean() < 0.001


STEADY_S = np.arange(500) / 100.0


@pytest.mark.parametrize(
    ("stamps_s", "sentence"),
    [
        (np.concatenate((STEADY_S, STEADY_S[-1:] - 0.5)), "time runs backwards at sample 501"),
        (np.repeat(STEADY_S, 2), "500 time stamps are duplicated, the first at sample 2"),
        (np.where(np.arange(500) == 7, np.nan, STEADY_S), "not finite"),
        (np.arange(100.0), "1 Hz cannot be used; it must lie between 10 and 8000 Hz"),
        (np.arange(100000) / 50000.0, "cannot be used"),
        (np.append(STEADY_S, 1e9), "span 277778 hours"),
        ((np.arange(200)[:, None] * 0.1 + np.arange(5) * 0.001).ravel(), "come in bursts"),
        (np.cumsum(np.where(np.arange(900) % 2, 0.02, 0.001)), "too irregular"),
    ],
)
def test_stamps_that_cannot_be_used_are_refused(stamps_s: FloatArray, sentence: str) -> None:
    with pytest.raises(SignalError, match=sentence):
        read_clock(stamps_s)


@pytest.mark.parametrize("stamps_s", [STEADY_S[:0], STEADY_S[:1], STEADY_S[:90]])
def test_less_than_a_second_is_too_short(stamps_s: FloatArray) -> None:
    with pytest.raises(TooShortError, match=r"needs at least 1\.0 s"):
        read_clock(stamps_s)


@pytest.mark.parametrize(
    ("measured", "meant"),
    [(99.4, 100.0), (101.9, 100.0), (102.1, 102.1), (73.49, 73.49), (73.51, 75.0),
     (204.766, 204.77), (251.6, 250.0), (398.2, 400.0), (25.3, 25.0)],
)  # fmt: skip
def test_a_common_rate_within_two_percent_is_meant(measured: float, meant: float) -> None:
    assert nominal_rate(measured) == meant
