"""Distances in the unit of a rule."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from acclock.errors import ConfigError
from acclock.matching.centers import center_of
from acclock.matching.normalization import measure, measure_all
from acclock.matching.threshold import RULES

if TYPE_CHECKING:
    from tests.matching.conftest import Crowd


@pytest.mark.parametrize("name", ["paper", "as-norm"])
def test_all_at_once_is_one_center_after_the_other(crowd: "type[Crowd]", name: str) -> None:
    people = crowd(4, scatter=1.2)
    cohort, rule = people.cohort(), RULES[name]
    windows = people.windows(people.person(), 12)
    windows[3] = np.nan
    centers = np.stack([center_of(people.windows(people.person(), 9)) for _ in range(3)])
    centers[1] = np.nan

    at_once = measure_all(centers, windows, rule=rule, cohort=cohort)

    assert np.isnan(at_once[:, 1]).all()
    for column in (0, 2):
        expected = measure(centers[column], windows, rule=rule, cohort=cohort)
        np.testing.assert_allclose(at_once[:, column], expected, atol=1e-7)
    with pytest.raises(ConfigError, match="needs the cohort"):
        measure_all(centers, windows, rule=RULES["as-norm"], cohort=None)
