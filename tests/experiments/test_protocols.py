from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acclock.errors import ConfigError
from acclock.experiments.gallery import Gallery
from acclock.experiments.trials import (
    enroll_all,
    plan,
    plan_cross_session,
    plan_within_session,
    try_all,
)

PEOPLE = st.lists(st.lists(st.integers(3, 12), min_size=2, max_size=5), min_size=2, max_size=4)
MakeGallery = Callable[..., Gallery]
shared_maker = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@shared_maker
@given(people=PEOPLE)
def test_no_recording_is_on_both_sides(make_gallery: MakeGallery, people: list[list[int]]) -> None:
    gallery = make_gallery(*people)
    planned = plan_cross_session(gallery)

    trials = try_all(gallery, planned, enroll_all(gallery, planned), windows=1)

    for template in range(len(people)):
        enrolled = set(gallery.recordings[planned.enrolled[template]].tolist())
        tried = set(gallery.recordings[trials.own[:, template]].tolist())
        assert not enrolled & tried
        assert max(enrolled) < min(tried)
        assert len(enrolled) == len(people[template]) // 2
        assert len(enrolled | tried) == len(people[template])


@shared_maker
@given(people=PEOPLE)
def test_strangers_are_all_windows_of_all_others(
    make_gallery: MakeGallery, people: list[list[int]]
) -> None:
    gallery = make_gallery(*people)
    planned = plan_cross_session(gallery)

    trials = try_all(gallery, planned, enroll_all(gallery, planned), windows=1)

    theirs = np.array([sum(recordings) for recordings in people])
    assert trials.others.sum(axis=0).tolist() == (theirs.sum() - theirs).tolist()


@shared_maker
@given(people=PEOPLE, seed=st.integers(0, 99))
def test_thirds_are_disjoint_and_each_enrolls_once(
    make_gallery: MakeGallery, people: list[list[int]], seed: int
) -> None:
    gallery = make_gallery(*people)

    planned = plan_within_session(gallery, seed=seed)

    for person in range(len(people)):
        thirds = planned.enrolled[planned.owners == person]
        assert len(thirds) == 3
        assert (thirds.sum(axis=0) == (gallery.wearers == person)).all()
        sizes = thirds.sum(axis=1)
        assert sizes.max() - sizes.min() <= 1


def test_thirds_follow_the_seed(make_gallery: MakeGallery) -> None:
    gallery = make_gallery([20], [20])

    first, again, other = (plan_within_session(gallery, seed=seed).enrolled for seed in (1, 1, 2))

    assert (first == again).all()
    assert (first != other).any()


def test_an_unknown_protocol_is_refused(make_gallery: MakeGallery) -> None:
    with pytest.raises(ConfigError, match="one of within-session, cross-session, not 'daily'"):
        plan(make_gallery([5], [5]), cast("Any", "daily"))
