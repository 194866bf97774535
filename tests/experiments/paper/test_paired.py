"""Signed ranks, and asking often."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon as scipys

from acclock.experiments.paper.summary import correct, wilcoxon

CHANCES = st.lists(st.one_of(st.none(), st.floats(0.0, 1.0)), max_size=8)


@pytest.mark.parametrize("seed", range(8))
def test_p_values_are_scipys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    some, others = rng.normal(0.3, 1.0, 25), rng.normal(size=25)

    ours = wilcoxon(list(some), list(others))

    assert ours == pytest.approx(scipys(some, others, method="exact").pvalue)


def test_ties_count_by_every_choice_of_signs() -> None:
    differences = np.array([1.0, 1.0, -1.0, 2.0, 3.0, 3.0])
    ranks = np.array([2.0, 2.0, 2.0, 4.0, 5.5, 5.5])
    signs = np.array(np.meshgrid(*[[0, 1]] * 6)).reshape(6, -1).T
    least = min(ranks[differences > 0].sum(), ranks[differences < 0].sum())

    expected = 2 * np.mean(signs @ ranks <= least)

    assert wilcoxon(list(differences), [0.0] * 6) == pytest.approx(expected)


def test_nothing_differs_nothing_to_test() -> None:
    assert wilcoxon([0.1, 0.2], [0.1, 0.2]) is None


@given(chances=CHANCES)
def test_corrected_chances_keep_their_order_and_never_fall(chances: list[float | None]) -> None:
    corrected = correct(chances)

    told = [(a, b) for a, b in zip(chances, corrected, strict=True) if a is not None]
    assert all(b is not None and a <= b <= 1.0 for a, b in told)
    assert [b for _, b in sorted(told)] == sorted(b for _, b in told)  # type: ignore[type-var]
