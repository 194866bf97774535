"""What a distance from the mean of a few windows is expected to be."""

import numpy as np
import pytest

from acclock.matching.centers import center_of, distances_to
from acclock.session.likelihood import expect_from_few
from acclock.values import FloatArray


def test_the_mean_of_a_few_windows_lies_as_far_as_is_expected() -> None:
    chance = np.random.default_rng(4)
    center = np.eye(64)[0]

    def wear(count: int) -> FloatArray:
        rows = 2.0 * center + chance.normal(size=(count, 64)) / 8.0 * 2.0
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    far = np.linalg.norm(wear(4000) - center, axis=1)
    seen = [distances_to(center_of(wear(4)), wear(50)).mean() for _ in range(200)]

    assert float(np.mean(seen)) == pytest.approx(expect_from_few(far, 4.0).mean(), rel=0.01)
    assert float(np.mean(seen)) > 1.05 * far.mean()
