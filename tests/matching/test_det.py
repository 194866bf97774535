import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ConfigError, TooFewError
from acclock.matching.rates import det, fnmr_at_fmr

DISTANCES = st.lists(st.floats(0, 2), min_size=1, max_size=60)


@given(users=DISTANCES, strangers=DISTANCES)
def test_the_curve_runs_from_nobody_to_everybody(
    users: list[float], strangers: list[float]
) -> None:
    curve = det(users, strangers)

    assert (curve.fmr[0], curve.fnmr[0]) == (0.0, 1.0)
    assert (curve.fmr[-1], curve.fnmr[-1]) == (1.0, 0.0)
    assert (np.diff(curve.fmr) >= 0).all()
    assert (np.diff(curve.fnmr) <= 0).all()


@given(users=DISTANCES, strangers=st.lists(st.floats(0, 2), min_size=20, max_size=60))
def test_fnmr_at_fmr_is_the_least_of_all_thresholds_that_keep_to_it(
    users: list[float], strangers: list[float]
) -> None:
    point = fnmr_at_fmr(users, strangers, fmr=0.05)

    allowed = [
        float(np.mean([d >= t for d in users]))
        for t in [*users, *strangers, 3.0]
        if np.mean([d < t for d in strangers]) <= 0.05
    ]
    assert point.fmr <= 0.05
    assert point.fnmr == pytest.approx(min([*allowed, 1.0]))


def test_scikit_learn_draws_the_same_curve() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    users, strangers = rng.normal(0.6, 0.2, 300), rng.normal(1.0, 0.2, 500)

    curve = det(users, strangers)

    truth = np.r_[np.ones(300), np.zeros(500)]
    fpr, fnr, thresholds = metrics.det_curve(truth, -np.r_[users, strangers])
    # Scikit-learn accepts at the threshold as well: its curve is ours one step further.
    step = np.searchsorted(curve.thresholds, -thresholds, side="right")
    np.testing.assert_allclose(curve.fmr[step], fpr, atol=1e-12)
    np.testing.assert_allclose(curve.fnmr[step], fnr, atol=1e-12)


def test_a_rate_that_so_few_strangers_cannot_show_is_refused() -> None:
    with pytest.raises(TooFewError, match=r"99 strangers' distances for an FMR of 0\.01"):
        fnmr_at_fmr([0.1], np.linspace(0.2, 1, 99), fmr=0.01)
    with pytest.raises(ConfigError, match="lies in"):
        fnmr_at_fmr([0.1], [0.2], fmr=0.0)
