"""The rates against a plain loop, against pyeer, and at their edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyeer.eer_stats import calculate_roc, get_eer_values

from acclock.errors import TooFewError
from acclock.matching.rates import equal_error, far, frr

# Few distinct values, so that ties are common; and the values that should never be accepted.
DISTANCES = st.lists(
    st.one_of(st.integers(0, 8).map(lambda n: n / 4), st.floats(0, 2), st.just(math.nan)),
    min_size=1,
    max_size=30,
)


def naive_far(strangers: list[float], threshold: float) -> float:
    return sum(1 for distance in strangers if distance < threshold) / len(strangers)


def naive_frr(users: list[float], threshold: float) -> float:
    return sum(1 for distance in users if not distance < threshold) / len(users)


@pytest.mark.paper("Algorithm 1")
@given(
    users=DISTANCES, strangers=DISTANCES, threshold=st.one_of(st.floats(0, 2), st.just(math.nan))
)
def test_rates_equal_a_plain_loop(
    users: list[float], strangers: list[float], threshold: float
) -> None:
    accepted, rejected = far(strangers, threshold), frr(users, threshold)

    assert accepted == naive_far(strangers, threshold)
    assert rejected == naive_frr(users, threshold)


@pytest.mark.paper("Algorithm 1")
@given(users=DISTANCES, strangers=DISTANCES)
def test_equal_error_is_the_first_least_difference(
    users: list[float], strangers: list[float]
) -> None:
    tried = sorted({distance for distance in users + strangers if not math.isnan(distance)})
    if not tried:
        with pytest.raises(TooFewError):
            equal_error(users, strangers)
        return

    found = equal_error(users, strangers)

    differences = [abs(naive_far(strangers, t) - naive_frr(users, t)) for t in tried]
    assert found.threshold == tried[differences.index(min(differences))]
    assert found.far == naive_far(strangers, found.threshold)
    assert found.frr == naive_frr(users, found.threshold)


@pytest.mark.parametrize("seed", range(5))
def test_rates_are_those_of_pyeer(seed: int) -> None:
    draw = np.random.default_rng(seed)
    users, strangers = draw.gamma(4.0, 0.1, 700), draw.gamma(8.0, 0.1, 1300)
    thresholds, false_match, false_non_match = calculate_roc(users, strangers, ds_scores=True)

    # pyeer accepts a distance at the threshold; we accept only below it.
    just_above = np.nextafter(thresholds, np.inf)
    accepted, rejected = far(strangers, just_above), frr(users, just_above)

    np.testing.assert_allclose(accepted, false_match, atol=1e-12)
    np.testing.assert_allclose(rejected, false_non_match, atol=1e-12)
    *_, rate = get_eer_values(false_match, false_non_match)
    assert equal_error(users, strangers).rate == pytest.approx(rate, abs=1 / 700)


@given(strangers=DISTANCES, users=DISTANCES)
def test_a_looser_threshold_accepts_no_fewer(strangers: list[float], users: list[float]) -> None:
    thresholds = np.linspace(0, 2, 50)

    accepted, rejected = far(strangers, thresholds), frr(users, thresholds)

    assert (np.diff(accepted) >= 0).all()
    assert (np.diff(rejected) <= 0).all()


@pytest.mark.parametrize(
    ("users", "strangers", "threshold", "rate"),
    [
        ([0.1, 0.2], [0.5, 0.6], 0.5, 0.0),  # apart
        ([0.5, 0.6], [0.1, 0.2], 0.5, 1.0),  # the wrong way round
        ([0.3], [0.3], 0.3, 0.5),  # a tie is a rejection of both
        ([0.1, math.nan], [0.5, 0.6], 0.6, 0.5),
        ([0.1, 0.2], [math.inf, 0.6], 0.6, 0.0),
    ],
)
def test_equal_error_of(
    users: list[float], strangers: list[float], threshold: float, rate: float
) -> None:
    found = equal_error(users, strangers)

    assert found.threshold == threshold
    assert found.rate == pytest.approx(rate)


@pytest.mark.parametrize(
    ("users", "strangers"), [([], [1.0]), ([1.0], []), ([math.nan], [math.inf])]
)
def test_nothing_to_compare_is_refused(users: list[float], strangers: list[float]) -> None:
    with pytest.raises(TooFewError, match=r"there are 0 .*distances.*; this needs at least 1"):
        equal_error(users, strangers)


def test_two_bells_three_deviations_apart_err_where_the_tables_say() -> None:
    draw = np.random.default_rng(1)

    found = equal_error(draw.normal(0.8, 0.2, 10_000), draw.normal(1.4, 0.2, 990_000))

    assert found.rate == pytest.approx(0.0668, abs=0.005)  # one tail beyond 1.5
