"""What a distance says, and that no session takes more strangers for the user than it may."""

import math
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acclock.live.evidence import (
    MOST_NATS,
    add_window,
    begin,
    calibrate_template,
    calibrate_wearing,
    expect_from_few,
    prove,
    reach,
)
from acclock.live.policies import POLICIES, Policy
from acclock.matching.centers import center_of, distances_to
from acclock.matching.cohort import Cohort, StrangerKind, VariationLevels
from acclock.matching.enrollment import enroll
from acclock.matching.normalization import measure
from acclock.matching.template import Template
from acclock.matching.threshold import RULES
from acclock.values import FloatArray

WIDTH = 12
MOST = {"strict": 1.0, "balanced": 2.0, "comfortable": 3.0}
"""Times the strangers whom the enrolled threshold encloses, at the most."""


def scatter(seed: int, count: int, *, spread: float, toward: FloatArray) -> FloatArray:
    rows = toward + spread * np.random.default_rng(seed).standard_normal((count, WIDTH))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def draw_case(
    seed: int, own_spread: float, strangers_spread: float, rule: str
) -> tuple[Template, Cohort]:
    """Enroll somebody among strangers of whom some may be like them, some like nobody."""
    user = np.eye(WIDTH)[0]
    near = scatter(seed, 150, spread=strangers_spread, toward=user)
    far = scatter(seed + 1, 150, spread=1.0, toward=np.zeros(WIDTH))
    kind = StrangerKind(
        name="drawn",
        count=300,
        widest=0.9,
        levels=VariationLevels(person=0.3, session=0.2, window=0.5),
    )
    cohort = Cohort(embeddings=np.vstack([near, far]), model="test", kinds=(kind,))
    enrolled = datetime(2025, 1, 6, tzinfo=UTC)
    windows = scatter(seed + 2, 60, spread=own_spread, toward=user)
    return enroll(windows, cohort=cohort, now=enrolled, rule=RULES[rule]), cohort


def share_allowed(template: Template, cohort: Cohort, policy: Policy) -> float:
    """The invariant, word by word: what the threshold encloses, or one in a hundred of nobody."""
    far = measure(template.center, cohort.embeddings, rule=template.rule, cohort=cohort)
    enclosed = np.mean(far < template.threshold)
    return float(MOST[policy.name] * enclosed) if enclosed else 0.01


CASES = (
    st.integers(0, 10**6),
    st.floats(0.02, 0.6),
    st.floats(0.05, 3.0),
    st.sampled_from(sorted(RULES)),
    st.sampled_from(sorted(POLICIES)),
)


@settings(max_examples=150)
@given(*CASES)
def test_no_session_speaks_for_more_strangers_than_its_threshold_allows(
    seed: int, own_spread: float, strangers_spread: float, rule: str, policy: str
) -> None:
    template, cohort = draw_case(seed, own_spread, strangers_spread, rule)

    wearing = begin(template, cohort, POLICIES[policy])

    far = distances_to(wearing.center, cohort.embeddings)
    counted = np.mean([wearing.likelihood.weigh(float(one)) > 0 for one in far])
    assert counted <= share_allowed(template, cohort, POLICIES[policy]) + 1e-9


@settings(max_examples=150)
@given(*CASES, st.floats(0.02, 1.5))
def test_nor_does_a_wearing_that_is_its_own_measure(
    seed: int,
    own_spread: float,
    strangers_spread: float,
    rule: str,
    policy: str,
    worn_spread: float,
) -> None:
    template, cohort = draw_case(seed, own_spread, strangers_spread, rule)
    wearing = begin(template, cohort, POLICIES[policy])
    for window in scatter(seed + 3, 40, spread=worn_spread, toward=np.eye(WIDTH)[0]):
        wearing = add_window(wearing, window, MOST_NATS, POLICIES[policy])

    wearing = prove(wearing, template, cohort, POLICIES[policy])

    assert wearing.proven
    far = distances_to(wearing.center, cohort.embeddings)
    counted = np.mean([wearing.likelihood.weigh(float(one)) > 0 for one in far])
    assert counted <= share_allowed(template, cohort, POLICIES[policy]) + 1e-9


@given(st.lists(st.floats(0.0, 2.0), min_size=1, max_size=60), st.floats(0.0, 1.0))
def test_the_reach_encloses_as_many_as_it_may_and_no_more(
    values: list[float], share: float
) -> None:
    distances = np.array(values)

    farthest = reach(distances, share)

    assert np.mean(distances < farthest) <= share + 1e-9
    assert share == 1.0 or np.mean(distances < farthest + 1e-6) > share - 1e-9


def test_the_ratio_is_that_of_two_normal_distributions(template: Template, cohort: Cohort) -> None:
    likelihood = calibrate_template(template, cohort, factor=1.0)

    # a naive twin: rebuild both normals from steepness and middle, and compare their logarithms
    own = template.user_distances
    spread = math.sqrt(2.0 * (likelihood.middle - own.mean()) / likelihood.steepness)
    assert spread == pytest.approx(own.std(), rel=0.2)
    assert own.mean() < likelihood.middle < 1.3


def test_the_user_weighs_for_and_strangers_against(
    template: Template, cohort: Cohort, user: FloatArray, stranger: FloatArray
) -> None:
    likelihood = calibrate_template(template, cohort, factor=1.0)

    assert likelihood.weigh(float(np.linalg.norm(user - template.center))) == MOST_NATS
    assert likelihood.weigh(float(np.linalg.norm(stranger - template.center))) == -MOST_NATS


def test_a_greater_factor_moves_the_middle_outwards(template: Template, cohort: Cohort) -> None:
    among = Template(**{n: getattr(template, n) for n in template.__slots__} | {"threshold": 1.35})
    factors = (0.2, 0.5, 1.0, 2.0, 3.0)

    middles = [calibrate_template(among, cohort, factor=factor).middle for factor in factors]

    assert middles == sorted(middles)
    assert middles[0] < middles[-1]


def test_a_cohort_in_the_midst_of_the_user_leaves_a_finite_weight(
    template: Template, user: FloatArray
) -> None:
    cohort = Cohort(embeddings=np.vstack([user, user, user]), model="test")

    for likelihood in (
        calibrate_template(template, cohort, factor=1.0),
        calibrate_wearing(template.center, template, cohort, factor=1.0, windows=4.0),
    ):
        assert math.isfinite(likelihood.steepness)
        assert likelihood.weigh(1.0) == -MOST_NATS


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
