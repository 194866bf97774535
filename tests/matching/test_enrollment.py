from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ConfigError, ModelError, SignalError, TooFewError
from acclock.matching.centers import distances_to
from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import enroll
from acclock.matching.rates import far
from acclock.matching.threshold import RULES, Rule, choose_threshold, rule_named
from acclock.matching.verification import verify
from acclock.values import FloatArray

if TYPE_CHECKING:
    from tests.matching.conftest import Crowd


def algorithm_1(windows: FloatArray, strangers: FloatArray) -> tuple[FloatArray, float]:
    """The registration phase as printed, in plain loops; only the center is normalized."""
    mean = np.array([sum(column) / len(windows) for column in windows.T])
    center = mean / np.sqrt((mean * mean).sum())
    genuine = [np.sqrt(((row - center) ** 2).sum()) for row in windows]
    others = []
    for row in strangers:
        others.append(np.sqrt(((row - center) ** 2).sum()))  # noqa: PERF401 - as printed
    differences = {}
    for t in sorted(genuine + others):
        false_accepts = sum(d < t for d in others) / len(others)
        false_rejects = sum(d >= t for d in genuine) / len(genuine)
        differences[t] = abs(false_accepts - false_rejects)
    return center, min(differences, key=lambda t: (differences[t], t))


@pytest.mark.paper("Alg. 1, lines 1-3")
@pytest.mark.paper("Alg. 1, lines 4-10")
@pytest.mark.paper("Alg. 1, lines 11-13")
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("scatter", [0.5, 1.0, 2.0])
def test_enrolling_is_algorithm_1(
    crowd: "type[Crowd]", now: datetime, seed: int, scatter: float
) -> None:
    people = crowd(seed, scatter=scatter)
    cohort, windows = people.cohort(10, 15), people.windows(people.person(), 80)

    template = enroll(windows, cohort=cohort, now=now)

    center, threshold = algorithm_1(windows, cohort.embeddings)
    np.testing.assert_allclose(template.center, center, atol=1e-12)
    assert template.threshold == pytest.approx(threshold, abs=1e-12)


@pytest.mark.paper("Alg. 1, lines 14-18")
@pytest.mark.parametrize("count", [1, 5, 15])
def test_verifying_is_algorithm_1(crowd: "type[Crowd]", now: datetime, count: int) -> None:
    people = crowd(5, scatter=1.2)
    user = people.person()
    template = enroll(people.windows(user, 80), cohort=people.cohort(), now=now)

    for wearer in (user, people.person()):
        query = people.windows(wearer, count)
        verdict = verify(template, query)

        mean = sum(np.sqrt(((row - template.center) ** 2).sum()) for row in query) / count
        assert verdict.distance == pytest.approx(mean, abs=1e-12)
        assert verdict.accepted == (mean < template.threshold)
        assert verdict.accepted == (wearer is user)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_knows_the_user_from_strangers(
    crowd: "type[Crowd]", now: datetime, name: str
) -> None:
    people = crowd(7, scatter=1.2)
    cohort = people.cohort()
    accepted = {"user": 0, "stranger": 0}
    for _ in range(20):
        user = people.person()
        template = enroll(people.windows(user, 80), cohort=cohort, now=now, rule=RULES[name])
        for _ in range(10):
            mine, other = people.windows(user, 5), people.windows(people.person(), 5)
            accepted["user"] += verify(template, mine, cohort=cohort).accepted
            accepted["stranger"] += verify(template, other, cohort=cohort).accepted

    assert accepted["user"] >= 196
    assert accepted["stranger"] <= 6


def test_leaving_out_refuses_the_user_less_often_than_the_paper(
    crowd: "type[Crowd]", now: datetime
) -> None:
    people = crowd(11, scatter=1.8)
    cohort = people.cohort()
    refused = dict.fromkeys(("paper", "leave-one-out"), 0.0)
    for _ in range(40):
        user = people.person()
        enrolled, later = people.windows(user, 20), people.windows(user, 100)
        for name in refused:
            template = enroll(enrolled, cohort=cohort, now=now, rule=RULES[name])
            distances = distances_to(template.center, later)
            refused[name] += float((distances >= template.threshold).mean())

    assert refused["leave-one-out"] < 0.8 * refused["paper"]


@given(
    strangers=st.lists(st.floats(0, 2), min_size=100, max_size=300),
    wanted=st.floats(0.01, 0.5),
)
def test_a_wanted_far_is_kept_and_used_up(strangers: list[float], wanted: float) -> None:
    distances = np.array(strangers)

    threshold = choose_threshold(np.array([0.5, 0.6]), distances, Rule(wanted_far=wanted))

    assert far(distances, threshold) <= wanted + 1e-9
    above = distances[distances > threshold]
    assert above.size == 0 or far(distances, above.min()) > wanted - 1e-9


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_turning_the_whole_space_changes_no_verdict(
    crowd: "type[Crowd]", now: datetime, rule: Rule
) -> None:
    people = crowd(3, scatter=1.2)
    user, cohort = people.person(), people.cohort()
    windows, query = people.windows(user, 30), people.windows(user, 5)
    turn, _ = np.linalg.qr(people.rng.normal(size=(len(user), len(user))))
    turned = replace(cohort, embeddings=cohort.embeddings @ turn)

    here = verify(enroll(windows, cohort=cohort, now=now, rule=rule), query, cohort=cohort)
    there = verify(
        enroll(windows @ turn, cohort=turned, now=now, rule=rule), query @ turn, cohort=turned
    )

    assert here.distance == pytest.approx(there.distance, abs=1e-9)
    assert here.threshold == pytest.approx(there.threshold, abs=1e-9)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_nobody_accepts_the_zero_vector_nor_anything_that_is_no_embedding(
    crowd: "type[Crowd]", now: datetime, rule: Rule
) -> None:
    people = crowd(2, scatter=3.0)
    cohort = people.cohort()
    template = enroll(people.windows(people.person(), 30), cohort=cohort, now=now, rule=rule)
    good = np.array(template.center)

    for bad in (0.0 * good, np.nan * good, good * 0.9, np.full_like(good, np.inf)):
        assert not verify(template, bad, cohort=cohort).accepted
        assert not verify(template, [good, bad], cohort=cohort).accepted
    assert verify(template, good, cohort=cohort).accepted


def test_windows_with_a_fault_are_left_out(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(4)
    user = people.person()
    template = enroll(people.windows(user, 30), cohort=people.cohort(), now=now)
    mine, noise = people.windows(user, 3), people.windows(people.person(), 2)
    query = np.vstack([mine, noise])

    verdict = verify(template, query, faults=[None, None, None, "activity", "absence"])

    assert verdict == verify(template, mine)
    assert verdict.windows == 3


@pytest.mark.parametrize(
    ("faults", "decision"),
    [
        (["activity", "activity", "absence"], "uncertain"),
        (["absence", "absence", "activity"], "no_signal"),
        ([None, "activity", "activity"], "uncertain"),
    ],
)
def test_too_few_good_windows_are_no_verdict_on_anybody(
    crowd: "type[Crowd]", now: datetime, faults: list[str | None], decision: str
) -> None:
    people = crowd(4)
    user = people.person()
    template = enroll(people.windows(user, 30), cohort=people.cohort(), now=now)

    verdict = verify(template, people.windows(user, 3), faults=faults, least_windows=2)

    assert verdict.decision == decision


def test_no_windows_at_all_is_no_signal(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(4)
    template = enroll(people.windows(people.person(), 30), cohort=people.cohort(), now=now)

    assert verify(template, np.zeros((0, 32))).decision == "no_signal"


def test_refusals_say_what_was_needed(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(4)
    cohort, windows = people.cohort(2, 15), people.windows(people.person(), 30)
    template = enroll(windows, cohort=cohort, now=now)

    with pytest.raises(TooFewError, match="1 windows; this needs at least 2"):
        enroll(windows[:1], cohort=cohort, now=now)
    with pytest.raises(
        TooFewError, match=r"30 strangers for a FAR of 0\.01; this needs at least 100"
    ):
        enroll(windows, cohort=cohort, now=now, rule=RULES["wanted-far"])
    with pytest.raises(TooFewError, match=r"30 embeddings in the cohort; .* 101"):
        enroll(windows, cohort=cohort, now=now, rule=RULES["as-norm"])
    with pytest.raises(ModelError, match="made by model toy, the embeddings by other"):
        verify(template, windows, cohort=Cohort(embeddings=windows, model="other"))
    with pytest.raises(ConfigError, match="needs the cohort"):
        verify(enroll(windows, cohort=people.cohort(), now=now, rule=RULES["as-norm"]), windows)
    with pytest.raises(SignalError, match="1 faults for 30 windows"):
        verify(template, windows, faults=[None])
    with pytest.raises(ConfigError, match="no rule 'best'; there are paper"):
        rule_named("best")


def test_a_template_cannot_be_changed(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(4)
    cohort = people.cohort()
    template = enroll(people.windows(people.person(), 30), cohort=cohort, now=now)

    for array in (template.center, template.anchor, template.user_distances, cohort.embeddings):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
