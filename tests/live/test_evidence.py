"""The sequential test, and what a distance weighs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.live.evidence import MOST_NATS, WINDOW_S, Evidence, Likelihood, add
from acclock.live.policies import POLICIES

NATS = st.floats(-MOST_NATS, MOST_NATS)


def gather(nats: list[float], step_s: float) -> Evidence:
    evidence = Evidence()
    for one in nats:
        evidence = add(evidence, one, step_s=step_s)
    return evidence


@given(st.lists(NATS, max_size=40))
def test_evidence_is_the_highest_rise_of_the_running_sum(nats: list[float]) -> None:
    evidence = gather(nats, 0.5)

    sums = np.concatenate([[0.0], np.cumsum(np.array(nats) * 0.5 / WINDOW_S)])
    assert evidence.towards == pytest.approx(sums[-1] - sums.min(), abs=1e-9)
    assert evidence.against == pytest.approx(sums.max() - sums[-1], abs=1e-9)


@given(st.lists(NATS, max_size=20), st.integers(1, 5))
def test_judging_more_often_weighs_no_more(nats: list[float], times: int) -> None:
    rarely = gather(nats, 0.5)

    often = gather([one for one in nats for _ in range(times)], 0.5 / times)

    assert often.towards == pytest.approx(rarely.towards, abs=1e-9)
    assert often.against == pytest.approx(rarely.against, abs=1e-9)


def test_a_single_window_cannot_revoke() -> None:
    odd = add(Evidence(), -MOST_NATS, step_s=0.5)

    assert odd.against == MOST_NATS / 8 < min(policy.revoke_nats for policy in POLICIES.values())


@given(st.floats(0.1, 1.0), st.floats(1.0, 100.0), st.floats(0.0, 2.0), st.floats(0.0, 2.0))
def test_nearer_never_weighs_less(
    middle: float, steepness: float, one: float, other: float
) -> None:
    likelihood = Likelihood(middle=middle, steepness=steepness)

    near, far = sorted([one, other])

    assert MOST_NATS >= likelihood.weigh(near) >= likelihood.weigh(far) >= -MOST_NATS


@pytest.mark.parametrize("distance", [math.nan, math.inf])
def test_no_distance_speaks_against_the_user(distance: float) -> None:
    assert Likelihood(middle=0.6, steepness=20.0).weigh(distance) == -MOST_NATS
