"""How people vary says where a user ends."""

from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ConfigError
from acclock.matching.centers import center_of, distances_to
from acclock.matching.cohort import Cohort, VariationLevels, measure_levels
from acclock.matching.enrollment import enroll
from acclock.matching.threshold import RULES, Rule, usual_rule
from acclock.values import FloatArray

if TYPE_CHECKING:
    from tests.matching.conftest import Crowd

WIDTH = 64


def draw(levels: VariationLevels, *, people: int, seed: int = 0) -> list[list[FloatArray]]:
    """Draw people from the very model: three windows' worth of numbers that add up."""
    chance = np.random.default_rng(seed)

    def around(middle: FloatArray, level: float, count: int) -> FloatArray:
        return np.asarray(middle + chance.normal(size=(count, WIDTH)) * np.sqrt(level / WIDTH))

    return [
        [around(session, levels.window, 30) for session in around(person, levels.session, 4)]
        for person in around(np.zeros(WIDTH), levels.person, people)
    ]


def test_the_levels_are_those_that_people_were_drawn_with() -> None:
    drawn = VariationLevels(person=0.3, session=0.2, window=0.5)

    found = measure_levels(draw(drawn, people=200))

    assert found is not None
    # a mean of windows keeps a thirtieth of their level, and a mean of sessions a quarter of theirs
    assert found.window == pytest.approx(0.5, rel=0.05)
    assert found.session == pytest.approx(0.2 + 0.5 / 30, rel=0.05)
    assert found.person == pytest.approx(0.3 + (0.2 + 0.5 / 30) / 4, rel=0.05)


def test_people_who_came_once_do_not_tell_how_a_session_changes_them() -> None:
    people = [
        sessions[:1]
        for sessions in draw(VariationLevels(person=0.3, session=0.2, window=0.5), people=5)
    ]

    assert measure_levels(people) is None
    assert measure_levels([]) is None


def test_the_threshold_is_where_a_plain_likelihood_ratio_says_so() -> None:
    levels = VariationLevels(person=0.3, session=0.2, window=0.5)
    own = np.random.default_rng(1).uniform(0.6, 1.1, size=40)

    threshold = levels.threshold(own, strictness=0.01)

    cosine = 1.0 - threshold**2 / 2.0
    known = 1.0 / (1.0 / 0.3 + 1.0 / (0.2 + 0.5 / 40))  # what is left to doubt of the person
    middle = 0.3 / (0.3 + 0.2 + 0.5 / 40) * float((1.0 - own**2 / 2.0).mean())
    user, stranger = known + 0.7, 1.0
    for_user = -(1.0 + middle**2 - 2.0 * middle * cosine) / (2.0 * user) - np.log(user) / 2.0
    for_stranger = -1.0 / (2.0 * stranger) - np.log(stranger) / 2.0
    assert for_user - for_stranger == pytest.approx(0.01)


@given(
    own=st.lists(st.floats(0.0, 1.3), min_size=2, max_size=60),
    stricter=st.floats(0.0, 0.2),
    least=st.floats(0.0, 0.2),
)
def test_a_stricter_rule_never_accepts_more(
    own: list[float], stricter: float, least: float
) -> None:
    levels = VariationLevels(person=0.3, session=0.25, window=0.55)

    lenient = levels.threshold(np.array(own), strictness=least)

    assert 0.0 <= levels.threshold(np.array(own), strictness=least + stricter) <= lenient


def test_windows_that_point_nowhere_in_common_accept_nobody() -> None:
    levels = VariationLevels(person=0.3, session=0.25, window=0.55)

    assert levels.threshold(np.full(30, 1.5), strictness=0.0) == 0.0


def test_one_good_day_does_not_make_a_threshold_tight(crowd: "type[Crowd]", now: datetime) -> None:
    """The paper's rule takes an enrollment's calm for the user's: on other days it refuses them."""
    people = crowd(3, scatter=1.0)
    cohort = people.cohort()
    refused = dict.fromkeys(("paper", "likelihood"), 0.0)
    for _ in range(40):
        sitting = people.person()
        lying = center_of([sitting, center_of([sitting, people.person()])])
        for name in refused:
            template = enroll(people.windows(sitting, 40), cohort=cohort, now=now, rule=RULES[name])
            distances = distances_to(template.center, people.windows(lying, 50))
            refused[name] += float((distances >= template.threshold).mean())

    assert refused["likelihood"] < 0.8 * refused["paper"]


def test_the_usual_rule_needs_a_cohort_that_knows_how_people_vary(
    crowd: "type[Crowd]", now: datetime
) -> None:
    knowing = crowd(1).cohort()
    older = Cohort(embeddings=knowing.embeddings, model=knowing.model)

    assert usual_rule(knowing) == RULES["likelihood"]
    assert usual_rule(older) == RULES["paper"]
    with pytest.raises(ConfigError, match="does not say how much people vary"):
        enroll(knowing.embeddings[:9], cohort=older, now=now, rule=RULES["likelihood"])


def test_levels_and_strictness_are_checked() -> None:
    with pytest.raises(ConfigError, match="levels are positive"):
        VariationLevels(person=0.3, session=float("nan"), window=0.5)
    with pytest.raises(ConfigError, match="strictness"):
        Rule(strictness=-0.1)
    with pytest.raises(ConfigError, match="strictness"):
        Rule(strictness=0.1, neighbors=10)
