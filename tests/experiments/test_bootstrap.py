import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ConfigError, TooFewError
from acclock.experiments.bootstrap import Estimate, draw_people, estimate

RATES = st.floats(0, 1)


@given(people=st.integers(2, 12), seed=st.integers(0, 99))
def test_as_many_are_drawn_as_there_are_and_never_one_alone(people: int, seed: int) -> None:
    draws = draw_people(people, rounds=50, seed=seed)

    assert (draws.sum(axis=1) == people).all()
    assert ((draws > 0).sum(axis=1) >= 2).all()


@given(value=RATES, drawn=st.lists(RATES, max_size=50), people=st.integers(2, 200))
def test_the_interval_holds_its_figure(value: float, drawn: list[float], people: int) -> None:
    found = estimate(value, np.array(drawn), people=people)

    assert 0.0 <= found.low <= found.value <= found.high <= 1.0


@pytest.mark.parametrize(("people", "high"), [(2, 1.0), (6, 0.5), (100, 0.03)])
def test_no_error_in_n_people_leaves_up_to_three_in_n(people: int, high: float) -> None:
    found = estimate(0.0, np.zeros(200), people=people)

    assert found.high == pytest.approx(high)


def test_the_interval_of_a_mean_is_that_of_theory() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(0.3, 0.1, 200).clip(0, 1)
    draws = draw_people(200, rounds=2000, seed=1)

    found = estimate(float(values.mean()), draws @ values / 200, people=200)

    half = 1.96 * values.std() / np.sqrt(200)
    assert found.high - found.low == pytest.approx(2 * half, rel=0.1)


def test_draws_follow_the_seed() -> None:
    assert (draw_people(9, seed=3) == draw_people(9, seed=3)).all()
    assert (draw_people(9, seed=3) != draw_people(9, seed=4)).any()


def test_one_person_cannot_be_drawn_from() -> None:
    with pytest.raises(TooFewError, match="there are 1 people; this needs at least 2"):
        draw_people(1)


def test_a_figure_outside_its_interval_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"0\.5 does not lie between"):
        Estimate(value=0.5, low=0.6, high=0.7)
