from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pytest

from acclock.errors import ConfigError, EnrollmentError, SignalError, TooFewError
from acclock.matching.coaching import Enrollment, finish, predict_frr, push, report
from acclock.matching.enrollment import enroll
from acclock.matching.threshold import RULES, usual_rule
from acclock.values import FloatArray

if TYPE_CHECKING:
    from tests.matching.conftest import Crowd


def gather(windows: FloatArray) -> Enrollment:
    return reduce(push, windows, Enrollment())


def test_pushing_windows_one_by_one_enrolls_as_all_at_once(
    crowd: "type[Crowd]", now: datetime
) -> None:
    people = crowd(1)
    cohort, windows = people.cohort(), people.windows(people.person(), 80)

    template = finish(gather(windows), cohort=cohort, now=now)

    at_once = enroll(windows, cohort=cohort, now=now, rule=usual_rule(cohort))
    np.testing.assert_array_equal(template.center, at_once.center)
    assert template.threshold == at_once.threshold
    assert not template.growing


def test_windows_with_a_fault_do_not_count(crowd: "type[Crowd]") -> None:
    people = crowd(1)
    windows = people.windows(people.person(), 41)

    disturbed = push(gather(windows), None, fault="activity")
    progress = report(disturbed, cohort=people.cohort())

    assert progress.sentence == "41 of 80 good windows; hold still"
    assert progress.may_end
    assert not progress.complete


@pytest.mark.parametrize(
    ("faults", "advice"),
    [
        (["absence"], "the earphone is loose or not worn"),
        (["activity", "absence", "absence"], "the earphone is loose or not worn"),
        (["absence", "activity"], "hold still"),
        (["activity", None], None),
        ([], None),
    ],
)
def test_advice_is_about_what_goes_wrong_now(
    crowd: "type[Crowd]", faults: list[str | None], advice: str | None
) -> None:
    people = crowd(1)
    window = people.windows(people.person(), 1)[0]

    enrollment = Enrollment()
    for fault in faults:
        enrollment = push(enrollment, window, fault=fault)

    assert report(enrollment, cohort=people.cohort()).advice == advice


def test_progress_runs_from_nothing_to_complete(crowd: "type[Crowd]") -> None:
    people = crowd(1)
    cohort, enrollment = people.cohort(), Enrollment()
    seen = []
    for window in people.windows(people.person(), 80):
        enrollment = push(enrollment, window)
        seen.append(report(enrollment, cohort=cohort))

    assert [progress.good for progress in seen] == list(range(1, 81))
    assert [progress.predicted_frr is None for progress in seen] == [True] * 9 + [False] * 71
    assert [progress.may_end for progress in seen] == [False] * 29 + [True] * 51
    assert [progress.complete for progress in seen] == [False] * 79 + [True]


@pytest.mark.parametrize("count", [30, 80])
@pytest.mark.parametrize("scatter", [0.7, 1.3, 1.8])
def test_the_predicted_frr_is_what_comes(
    crowd: "type[Crowd]", now: datetime, count: int, scatter: float
) -> None:
    people = crowd(2, scatter=scatter)
    cohort = people.cohort()
    predicted, came = [], []
    for _ in range(25):
        user = people.person()
        windows = people.windows(user, count)
        template = enroll(windows, cohort=cohort, now=now)
        later = np.linalg.norm(people.windows(user, 200) - template.center, axis=1)
        predicted.append(predict_frr(windows, cohort=cohort, rule=RULES["paper"]))
        came.append((later >= template.threshold).mean())

    assert np.mean(predicted) == pytest.approx(np.mean(came), abs=0.05)
    assert np.mean(predicted) >= np.mean(came) - 0.01


@pytest.mark.parametrize("share", [0.2, 0.35, 0.5])
def test_two_people_are_refused(crowd: "type[Crowd]", now: datetime, share: float) -> None:
    people = crowd(1)
    cohort, second, refused = people.cohort(), int(80 * share), 0
    for _ in range(20):
        both = people.windows(people.person(), 80 - second), people.windows(people.person(), second)
        enrollment = gather(np.vstack(both))
        refused += "two people" in report(enrollment, cohort=cohort).sentence

    assert refused >= 17  # some people are alike


def test_a_refused_set_makes_no_template(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(0)
    both = people.windows(people.person(), 40), people.windows(people.person(), 40)

    with pytest.raises(EnrollmentError, match=r"two people .* nothing was stored"):
        finish(gather(np.vstack(both)), cohort=people.cohort(), now=now)


@pytest.mark.parametrize("seed", range(10))
def test_a_table_is_refused(crowd: "type[Crowd]", now: datetime, seed: int) -> None:
    people = crowd(seed)
    noise = np.vstack([people.windows(people.person(), 1) for _ in range(80)])

    with pytest.raises(EnrollmentError, match="as little in common"):
        finish(gather(noise), cohort=people.cohort(), now=now)


def test_a_stuck_sensor_is_refused(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(1)
    windows = np.tile(people.windows(people.person(), 20), (4, 1))

    with pytest.raises(EnrollmentError, match="repeat each other"):
        finish(gather(windows), cohort=people.cohort(), now=now)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("scatter", [0.3, 0.7, 1.3])
def test_one_person_who_changes_posture_is_not_refused(
    crowd: "type[Crowd]", now: datetime, seed: int, scatter: float
) -> None:
    people = crowd(seed, scatter=scatter)
    sitting = people.person()
    lying = sitting + 0.5 * people.person()
    lying /= np.linalg.norm(lying)
    windows = np.vstack([people.windows(sitting, 40), people.windows(lying, 40)])

    assert finish(gather(windows), cohort=people.cohort(), now=now).windows == 80


def test_an_early_end_is_a_light_start(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(1)
    windows = people.windows(people.person(), 30)

    light = finish(gather(windows), cohort=people.cohort(), now=now)

    assert (light.windows, light.goal, light.growing) == (30, 80, True)


def test_refusals_say_what_is_missing(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(1)
    few = push(gather(people.windows(people.person(), 12)), None, fault="absence")

    with pytest.raises(
        TooFewError, match=r"12 good windows \(the earphone is loose or not worn\); .* 30"
    ):
        finish(few, cohort=people.cohort(), now=now)
    with pytest.raises(SignalError, match="one embedding of length one"):
        push(few, np.zeros(32))
    with pytest.raises(SignalError):
        push(few, None)
    with pytest.raises(ConfigError, match="of 20 cannot end with 30"):
        Enrollment(goal=20)
