"""Everybody once the owner."""

import numpy as np
import pytest

from acclock.experiments.paper.protocol import NOW, WindowUse, judge, plan_thirds, score_gallery
from acclock.matching.centers import distances_to
from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import enroll
from acclock.values import FloatArray

PEOPLE, SESSIONS, WINDOWS, WIDTH = 4, 2, 9, 12


def draw(rng: np.random.Generator, center: FloatArray, count: int, scatter: float) -> FloatArray:
    rows = center + scatter * rng.normal(size=(count, WIDTH))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def people(scatter: float = 0.3) -> tuple[list[list[WindowUse]], Cohort]:
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(PEOPLE, WIDTH))
    parts = [
        [
            WindowUse(rows=draw(rng, center, WINDOWS, scatter), role="both", session=session)
            for session in range(SESSIONS)
        ]
        for center in centers
    ]
    strangers = draw(rng, np.zeros(WIDTH), 60, 1.0)
    return parts, Cohort(embeddings=strangers, model="fold")


@pytest.mark.paper("Sec. 7.2.1")
def test_rates_are_those_of_a_plain_loop() -> None:
    parts, strangers = people(scatter=0.9)
    scored = score_gallery(parts)

    rates = judge(scored, strangers, seed=3)

    plan = plan_thirds(scored, enrolled=None, seed=3)
    rows, wearers = scored.gallery.embeddings, scored.gallery.wearers
    for who in range(PEOPLE):
        false_accepts, false_rejects = [], []
        for owner, mask in zip(plan.owners, plan.enrolled, strict=True):
            if owner != who:
                continue
            template = enroll(rows[mask], cohort=strangers, now=NOW)
            passed = distances_to(template.center, rows) < template.threshold
            false_accepts.append(passed[wearers != who].mean())
            false_rejects.append(1 - passed[(wearers == who) & ~mask].mean())
        assert rates[who]["far"] == pytest.approx(np.mean(false_accepts))
        assert rates[who]["frr"] == pytest.approx(np.mean(false_rejects))


def test_each_third_enrolls_once() -> None:
    scored = score_gallery(people()[0])

    plan = plan_thirds(scored, enrolled=None, seed=0)

    assert plan.enrolled.sum(axis=0).tolist() == [1] * len(scored.gallery)
    assert plan.enrolled.sum(axis=1).tolist() == [SESSIONS * WINDOWS // 3] * 3 * PEOPLE


def test_as_many_windows_enroll_as_are_asked_for() -> None:
    scored = score_gallery(people()[0])

    plan = plan_thirds(scored, enrolled=2, seed=0)

    assert set(plan.enrolled.sum(axis=1)) == {2}


def test_windows_that_are_only_tried_never_enroll_and_extra_ones_always_do() -> None:
    parts, strangers = people()
    tried = [WindowUse(rows=some[0].rows, role="tried", session=1) for some in parts]
    extra = [WindowUse(rows=some[1].rows[:3], role="always-enrolls", session=1) for some in parts]
    scored = score_gallery([[*a, b, c] for a, b, c in zip(parts, tried, extra, strict=True)])

    plan = plan_thirds(scored, enrolled=None, seed=0)

    mine = scored.gallery.wearers == plan.owners[:, np.newaxis]
    assert not plan.enrolled[:, scored.select("tried")].any()
    assert (plan.enrolled & scored.select("always-enrolls")).sum(axis=1).tolist() == [
        3
    ] * 3 * PEOPLE
    assert not (plan.enrolled & ~mine).any()
    assert all("cross_far" in one for one in judge(scored, strangers))


def test_one_session_has_no_other_to_be_tried_in() -> None:
    parts, strangers = people()

    rates = judge(score_gallery([some[:1] for some in parts]), strangers)

    assert not any(name.startswith("cross") for name in rates[0])


def test_people_far_apart_are_never_taken_for_each_other() -> None:
    rows = np.eye(PEOPLE + 1)
    parts = [
        [WindowUse(rows=np.repeat(rows[[n]], 9, axis=0), role="both", session=0)]
        for n in range(PEOPLE)
    ]
    strangers = Cohort(embeddings=rows[[-1]], model="fold")

    rates = judge(score_gallery(parts), strangers)

    assert {one["equal_error"] for one in rates} == {0.0}
    assert {one["far"] for one in rates} == {0.0}
