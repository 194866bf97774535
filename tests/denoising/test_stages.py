import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.denoising.config import DenoiseConfig, Recovery
from acclock.denoising.context import close_ring
from acclock.denoising.inherent import find_thresholds, shrink
from acclock.denoising.periodicity import assess_periodicity
from acclock.denoising.stages import denoise
from acclock.denoising.wavelets import build_bank
from acclock.errors import SignalError

CONFIG = DenoiseConfig()
RECOVERIES: list[Recovery] = ["attenuation", "paper", "none"]


def beat(bpm: float, *, count: int = 2048, rate_hz: float = 100.0) -> np.ndarray:
    phase = (np.arange(count) / rate_hz) % (60.0 / bpm)
    return 0.3 * np.sin(2 * np.pi * 6.0 * phase) * np.exp(-10.0 * phase)


def shake(context: np.ndarray) -> np.ndarray:
    """Add one second of head shaking to the last four."""
    seconds = np.arange(100) / 100.0
    shaken = context.copy()
    shaken[..., -250:-150] += 3.0 * np.sin(2 * np.pi * 3.0 * seconds) * np.hanning(100)
    return shaken


def test_the_first_stage_is_its_steps_one_after_the_other() -> None:
    context = np.random.default_rng(1).normal(size=2048)
    bank = build_bank(2048, 6, CONFIG.kept_levels)

    stages = denoise(context, CONFIG)

    levels = bank.decompose(close_ring(context))
    shrunk = bank.recompose(
        shrink(levels, threshold=find_thresholds(levels), power=CONFIG.shrink_power)
    )
    np.testing.assert_allclose(stages.shrunk, shrunk[-400:], atol=1e-12)
    np.testing.assert_allclose(stages.wavelet, bank.recompose(levels)[-400:], atol=1e-12)


def test_a_periodic_window_passes_the_second_stage_and_becomes_the_reference() -> None:
    stages = denoise(beat(75), CONFIG)

    assert stages.periodic
    np.testing.assert_array_equal(stages.recovered, stages.shrunk)
    np.testing.assert_array_equal(stages.reference.windows[0], stages.shrunk)


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_an_event_is_seen_and_handled_by_the_recovery_of_that_name(recovery: Recovery) -> None:
    config = DenoiseConfig(recovery=recovery)
    before = denoise(beat(75), config)

    after = denoise(shake(beat(75)), config, before.reference)

    assert not after.periodic
    assert (after.recovered == after.shrunk).all() == (recovery == "none")
    np.testing.assert_array_equal(after.reference.windows, before.reference.windows)


def shake_evenly(context: np.ndarray, seconds: float) -> np.ndarray:
    """Add strokes of the head, as even as a heart, to the last seconds."""
    count = round(100 * seconds)
    context[..., -count:] += 2.0 * np.sin(2 * np.pi * 1.25 * np.arange(count) / 100.0)
    return context


@pytest.mark.parametrize("seconds", [4.5, 20.48])
def test_even_strokes_of_the_head_are_an_event_and_no_reference(seconds: float) -> None:
    shaken = shake_evenly(beat(75), seconds)

    ours = denoise(shaken, CONFIG)
    by_the_word = denoise(shaken, DenoiseConfig(recovery="paper"))

    assert by_the_word.periodic
    assert not ours.periodic
    assert ours.periodicity[0].lively
    assert not ours.reference.known.any()


@pytest.mark.parametrize("known", [True, False])
def test_attenuation_brings_the_heartbeat_back_after_a_shake(known: bool) -> None:
    truth = denoise(beat(75), CONFIG)

    after = denoise(shake(beat(75)), CONFIG, truth.reference if known else None)

    disturbed = np.corrcoef(after.shrunk, truth.shrunk)[0, 1]
    assert np.corrcoef(after.recovered, truth.shrunk)[0, 1] > disturbed + 0.3


@pytest.mark.parametrize("bpm", [130, 140, 150, 160, 170, 185])
def test_a_fast_heart_passes_as_often_as_a_slow_one(bpm: int) -> None:
    def share(pace: float) -> float:
        whole = beat(pace, count=2148)
        contexts = np.stack([whole[start : start + 2048] for start in range(0, 100, 3)])
        noise = 0.01 * np.random.default_rng(bpm).normal(size=contexts.shape)
        return float(denoise(contexts + noise, CONFIG).periodic.mean())

    assert share(bpm) > share(75) - 0.1


@pytest.mark.parametrize("rate_hz", [25.0, 50.0, 75.0, 100.0, 200.0])
def test_every_rate_gives_four_seconds(rate_hz: float) -> None:
    config = DenoiseConfig.at_rate(rate_hz)
    context = beat(75, count=config.context_length, rate_hz=rate_hz)

    stages = denoise(context, config)

    assert stages.recovered.shape == (round(4 * rate_hz),)
    assert assess_periodicity(stages.shrunk, config).periodic


@given(gravity=st.floats(-20, 20), slope=st.floats(-0.5, 0.5))
def test_gravity_and_slow_tilting_hardly_reach_the_window(gravity: float, slope: float) -> None:
    seconds = np.arange(2048) / 100.0

    moved = denoise(beat(75) + gravity + slope * np.sin(0.3 * seconds), CONFIG).wavelet

    still = denoise(beat(75), CONFIG).wavelet
    assert np.std(moved - still) < 0.25 * np.std(still)


@pytest.mark.parametrize("recovery", RECOVERIES)
@pytest.mark.parametrize(
    "context",
    [
        np.zeros(2048),
        np.full(2048, 9.81),
        np.eye(1, 2048, 2000)[0],
        np.where(np.arange(2048) % 2, 1e5, -1e5),
        np.clip(50.0 * np.sin(np.arange(2048) / 5.0), -19.6, 19.6),
        np.full(2048, 5e-324),
    ],
    ids=["zero", "constant", "one click", "as strong as allowed", "saturated", "denormal"],
)
def test_strange_but_finite_input_gives_finite_output(
    context: np.ndarray, recovery: Recovery
) -> None:
    stages = denoise(context, DenoiseConfig(recovery=recovery))

    assert np.isfinite(stages.recovered).all()
    assert np.isfinite(stages.wavelet).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308])
def test_what_is_not_a_measurement_is_refused_by_name(value: float) -> None:
    context = beat(75)
    context[100] = value

    with pytest.raises(SignalError, match="not finite"):
        denoise(context, CONFIG)
