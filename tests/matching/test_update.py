import math
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ConfigError, EnrollmentError, ModelError
from acclock.matching.centers import center_of, distances_to, leave_one_out
from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import enroll
from acclock.matching.template import Template
from acclock.matching.threshold import RULES
from acclock.matching.update import UpdatePolicy, extend, grow, limit_drift, update
from acclock.matching.verification import verify
from acclock.values import FloatArray

if TYPE_CHECKING:
    from tests.matching.conftest import Crowd


WEEK = timedelta(days=7)
BARE = UpdatePolicy(drift_budget=math.inf)


def approach(template: Template, target: FloatArray, *, seed: int) -> FloatArray:
    """Ten windows that lead towards a target as fast as the rule of an update lets."""
    own = float(np.median(leave_one_out(template.user_distances)))
    reach = 0.9 * max(0.5 * template.threshold, own)
    step = limit_drift(target, template.center, reach=reach)
    rows = step + np.random.default_rng(seed).normal(size=(10, len(target))) * 0.01
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def attack(
    template: Template, attacker: FloatArray, *, weeks: int, cohort: Cohort, policy: UpdatePolicy
) -> Template:
    for week in range(1, weeks + 1):
        windows = approach(template, attacker, seed=week)
        when = template.updated + WEEK
        template = update(template, windows, cohort=cohort, now=when, policy=policy).template
    return template


def test_the_patient_attacker_gets_in_by_the_bare_rule_and_stays_out_by_the_budget(
    crowd: "type[Crowd]", now: datetime
) -> None:
    people = crowd(1, scatter=1.0)
    cohort = people.cohort()
    inside = {"before": 0, "bare": 0, "budget": 0}
    for _ in range(30):
        user, attacker = people.person(), people.person()
        before = enroll(people.windows(user, 80), cohort=cohort, now=now)
        bare = attack(before, attacker, weeks=26, cohort=cohort, policy=BARE)
        budget = attack(before, attacker, weeks=26, cohort=cohort, policy=UpdatePolicy())
        tries = people.windows(attacker, 15)
        inside["before"] += verify(before, tries).accepted
        inside["bare"] += verify(bare, tries).accepted
        inside["budget"] += verify(budget, tries).accepted
        assert verify(budget, people.windows(user, 15)).accepted

    assert inside["bare"] >= 29
    assert inside["budget"] == inside["before"]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("rule", ["paper", "leave-one-out", "as-norm", "likelihood"])
def test_no_history_of_updates_leads_out_of_the_budget_or_widens_the_threshold(
    crowd: "type[Crowd]", now: datetime, seed: int, rule: str
) -> None:
    people = crowd(seed, scatter=1.0)
    cohort = people.cohort()
    first = enroll(people.windows(people.person(), 80), cohort=cohort, now=now, rule=RULES[rule])
    plain = enroll(people.windows(first.center, 80), cohort=cohort, now=now, rule=RULES["paper"])

    template, thresholds = first, [first.threshold]
    for week in range(1, 12):
        towards = replace(first, center=template.center, threshold=0.6 * plain.threshold)
        windows = approach(towards, people.person(), seed=week)
        result = update(template, windows, cohort=cohort, now=now + week * WEEK)
        template = result.template
        thresholds.append(template.threshold)
        assert result.changed
        assert result.drift <= 1.0 + 1e-9

    assert np.linalg.norm(template.center - first.center) <= 0.1 * 2.0
    assert np.linalg.norm(template.center) == pytest.approx(1.0)
    assert thresholds == sorted(thresholds, reverse=True)
    np.testing.assert_array_equal(template.anchor, first.anchor)


def test_an_update_follows_a_user_who_drifts(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(3, scatter=0.4)
    cohort, user = people.cohort(), people.person()
    before = enroll(people.windows(user, 80), cohort=cohort, now=now)
    later = limit_drift(people.person(), user, reach=0.15)

    result = update(before, people.windows(later, 60), cohort=cohort, now=now + WEEK)

    gap_before = np.linalg.norm(before.center - later)
    assert result.changed
    assert np.linalg.norm(result.template.center - later) < gap_before
    assert result.template.updated == now + WEEK


@pytest.mark.paper("Sec. 7.4, update")
def test_an_update_takes_ten_windows_below_half_the_threshold(
    crowd: "type[Crowd]", now: datetime
) -> None:
    people = crowd(3, scatter=0.6)
    cohort, user = people.cohort(), people.person()
    template = enroll(people.windows(user, 80), cohort=cohort, now=now)
    week = people.windows(user, 2000)
    near = week[distances_to(template.center, week) < template.threshold / 2]
    far_off = week[distances_to(template.center, week) >= template.threshold / 2]

    nine, ten = (
        update(
            template,
            np.vstack([near[:count], far_off]),
            cohort=cohort,
            now=now + WEEK,
            policy=UpdatePolicy(own_share=None),
        )
        for count in (9, 10)
    )

    assert not nine.changed
    assert nine.template is template
    assert nine.reason == "9 windows were clearly the user's; this needs 10"
    assert ten.changed
    alone = update(template, near[:10], cohort=cohort, now=now + WEEK)
    np.testing.assert_array_equal(ten.template.center, alone.template.center)


def test_a_user_whose_windows_all_lie_close_to_the_threshold_is_followed_too(
    crowd: "type[Crowd]", now: datetime
) -> None:
    people = crowd(3, scatter=1.4)
    cohort, user = people.cohort(), people.person()
    template = enroll(people.windows(user, 80), cohort=cohort, now=now)
    later = limit_drift(people.person(), user, reach=0.15)
    week = people.windows(later, 60)
    assert (distances_to(template.center, week) > template.threshold / 2).all()

    by_half = update(
        template, week, cohort=cohort, now=now + WEEK, policy=UpdatePolicy(own_share=None)
    )
    by_own = update(template, week, cohort=cohort, now=now + WEEK)

    assert not by_half.changed
    assert by_own.changed
    gaps = [np.linalg.norm(one.center - later) for one in (by_own.template, template)]
    assert gaps[0] < gaps[1]


def test_an_update_waits_a_week(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(3, scatter=0.4)
    cohort, user = people.cohort(), people.person()
    template = enroll(people.windows(user, 80), cohort=cohort, now=now)

    early = update(template, people.windows(user, 60), cohort=cohort, now=now + 0.99 * WEEK)

    assert not early.changed
    assert "7 days" in early.reason


def test_a_zero_vector_is_never_learned_from(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(3, scatter=0.4)
    cohort = people.cohort()
    template = enroll(people.windows(people.person(), 80), cohort=cohort, now=now)

    result = update(template, np.zeros((50, 32)), cohort=cohort, now=now + WEEK)

    assert not result.changed


def test_another_model_is_refused(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(3)
    windows = people.windows(people.person(), 80)
    template = enroll(windows, cohort=people.cohort(), now=now)
    other = Cohort(embeddings=windows, model="other")

    with pytest.raises(ModelError, match="toy"):
        update(template, windows, cohort=other, now=now + WEEK)
    with pytest.raises(ConfigError):
        UpdatePolicy(windows=0)
    with pytest.raises(ConfigError):
        UpdatePolicy(drift_budget=math.nan)
    with pytest.raises(ConfigError):
        UpdatePolicy(confident_share=0.0)
    with pytest.raises(ConfigError):
        UpdatePolicy(own_share=1.1)


@given(seed=st.integers(0, 999), reach=st.floats(0.0, 2.0))
def test_limiting_stays_on_the_sphere_within_reach_and_on_the_way(seed: int, reach: float) -> None:
    rng = np.random.default_rng(seed)
    anchor, center = (row / np.linalg.norm(row) for row in rng.normal(size=(2, 8)))

    limited = limit_drift(center, anchor, reach=reach)

    assert np.linalg.norm(limited) == pytest.approx(1.0)
    assert np.linalg.norm(limited - anchor) <= reach + 1e-9
    assert np.linalg.norm(limited - center) <= np.linalg.norm(anchor - center) + 1e-9


@pytest.mark.paper("Sec. 7.3, talking")
def test_extending_is_enrolling_with_all_windows(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(6)
    cohort, user = people.cohort(), people.person()
    talking = limit_drift(people.person(), user, reach=0.4)
    still, spoken = people.windows(user, 80), people.windows(talking, 10)

    extended = extend(enroll(still, cohort=cohort, now=now), spoken, cohort=cohort, now=now)

    together = enroll(np.vstack([still, spoken]), cohort=cohort, now=now)
    np.testing.assert_allclose(extended.center, together.center, atol=1e-12)
    np.testing.assert_array_equal(extended.anchor, extended.center)
    mean = together.user_distances.mean()
    assert extended.user_distances.mean() == pytest.approx(mean, rel=0.02)
    assert extended.threshold == pytest.approx(together.threshold, rel=0.1)


def test_a_strangers_windows_do_not_extend(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(6)
    cohort = people.cohort()
    template = enroll(people.windows(people.person(), 80), cohort=cohort, now=now)

    with pytest.raises(EnrollmentError, match="do not pass"):
        extend(template, people.windows(people.person(), 10), cohort=cohort, now=now)


def test_a_light_start_grows_to_its_goal_and_no_further(
    crowd: "type[Crowd]", now: datetime
) -> None:
    people = crowd(8)
    cohort, user = people.cohort(), people.person()
    windows = people.windows(user, 100)
    template = enroll(windows[:30], cohort=cohort, now=now)

    sizes = []
    for start in (30, 50, 70, 90):
        template = grow(template, windows[start : start + 20], cohort=cohort, now=now)
        sizes.append((template.windows, template.growing))

    assert sizes == [(50, True), (70, True), (80, False), (80, False)]
    np.testing.assert_allclose(template.center, center_of(windows[:80]), atol=1e-9)
    np.testing.assert_array_equal(template.anchor, template.center)


def test_growing_refuses_less_than_the_light_start(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(9, scatter=1.8)
    cohort = people.cohort()
    refused = {"light": 0.0, "grown": 0.0}
    for _ in range(30):
        user = people.person()
        light = enroll(people.windows(user, 20), cohort=cohort, now=now)
        grown = light
        while grown.growing:
            before = grown
            grown = grow(grown, people.windows(user, 15), cohort=cohort, now=now)
            if grown is before:
                break
        later = people.windows(user, 200)
        for name, template in (("light", light), ("grown", grown)):
            distances = distances_to(template.center, later)
            refused[name] += float((distances >= template.threshold).mean())

    assert refused["grown"] < refused["light"]


def test_growing_takes_no_strangers_windows_and_stays_near(
    crowd: "type[Crowd]", now: datetime
) -> None:
    people = crowd(8, scatter=0.7)
    cohort = people.cohort()
    light = enroll(people.windows(people.person(), 30), cohort=cohort, now=now, goal=400)

    assert grow(light, people.windows(people.person(), 15), cohort=cohort, now=now) is light

    template = light
    for _ in range(20):
        target = limit_drift(people.person(), template.center, reach=0.9 * template.threshold)
        template = grow(template, people.windows(target, 15), cohort=cohort, now=now)
    assert np.linalg.norm(template.center - light.center) <= 0.25 * light.threshold * 1.5
