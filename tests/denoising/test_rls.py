import numpy as np
import padasip
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.sporadic import choose_forgetting, filter_adaptively

CONFIG = DenoiseConfig()
DAY = 24 * 3600 * 100


@pytest.mark.paper("Eq. 2")
@given(fluctuation=st.floats(0, 1e12), sensitivity=st.floats(1e-4, 1.0))
def test_forgetting_is_the_exponential_of_the_fluctuation_with_a_floor(
    fluctuation: float, sensitivity: float
) -> None:
    config = DenoiseConfig(motion_sensitivity=sensitivity)

    forgetting = choose_forgetting(np.array([fluctuation]), config)[0]

    assert forgetting == max(np.exp(-sensitivity * fluctuation), config.least_forgetting)


@pytest.mark.paper("Sec. 4.2.2")
@pytest.mark.parametrize("forgetting", [1.0, 0.995, 0.9])
def test_with_a_fixed_memory_it_is_the_filter_of_padasip(forgetting: float) -> None:
    draw = np.random.default_rng(5)
    inputs, desired = draw.normal(size=400), draw.normal(size=400)

    ours = filter_adaptively(inputs, desired, np.full(400, forgetting), CONFIG)

    history = padasip.input_from_history(np.r_[np.zeros(CONFIG.taps - 1), inputs], CONFIG.taps)
    peer = padasip.filters.FilterRLS(
        n=CONFIG.taps, mu=forgetting, eps=1 / CONFIG.confidence, w="zeros"
    )
    expected, _, _ = peer.run(desired, history[:, ::-1])
    np.testing.assert_allclose(ours, expected, atol=1e-9)


def test_it_learns_a_filter_that_is_there_to_be_learned() -> None:
    inputs = np.random.default_rng(6).normal(size=2000)
    desired = np.convolve(inputs, [0.5, -0.3, 0.2])[:2000]

    answers = filter_adaptively(inputs, desired, np.full(2000, 0.995), CONFIG)

    assert np.abs(answers - desired)[500:].max() < 1e-3


@pytest.mark.parametrize("kind", ["noise", "silence", "one value", "noise, silence, noise"])
def test_a_day_of_samples_leaves_it_finite_and_willing_to_learn(kind: str) -> None:
    inputs = np.random.default_rng(7).normal(size=DAY)
    rest = {"noise": 0, "silence": DAY, "one value": DAY, "noise, silence, noise": DAY // 2}[kind]
    inputs[DAY // 4 : DAY // 4 + rest] = 3.0 if kind == "one value" else 0.0
    inputs[-5000:] = np.random.default_rng(8).normal(size=5000)
    desired = 0.7 * inputs

    answers = filter_adaptively(inputs, desired, np.full(DAY, 0.9), CONFIG)

    assert np.isfinite(answers).all()
    assert np.abs(answers - desired)[-1000:].max() < 1e-3


@given(seed=st.integers(0, 99))
def test_every_row_learns_for_itself(seed: int) -> None:
    draw = np.random.default_rng(seed)
    inputs, desired = draw.normal(size=(2, 3, 100)), draw.normal(size=(2, 3, 100))
    forgetting = draw.uniform(0.6, 1.0, (2, 3, 100))

    together = filter_adaptively(inputs, desired, forgetting, CONFIG)

    alone = filter_adaptively(inputs[1, 2], desired[1, 2], forgetting[1, 2], CONFIG)
    np.testing.assert_array_equal(together[1, 2], alone)
