"""What speaks for the user waits for half a second; what speaks against them does not."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from acclock.denoising.quality import WindowQuality
from acclock.live.identity_tracker import IdentityTracker, WindowEvidence
from acclock.live.policies import BALANCED, Policy
from acclock.live.stream_analyzer import PendingWindow
from acclock.matching.cohort import Cohort
from acclock.matching.template import Template
from acclock.values import FloatArray


@pytest.fixture
def ask(qualities: Callable[..., WindowQuality]) -> Callable[[], PendingWindow]:
    def make() -> PendingWindow:
        return PendingWindow(
            samples=np.zeros((3, 400)), quality=qualities(), at_s=0.0, wearing=0, lively=False
        )

    return make


def open_tracker(template: Template, cohort: Cohort, policy: Policy = BALANCED) -> IdentityTracker:
    return IdentityTracker(template, cohort, policy)


def decisions(words: list[WindowEvidence]) -> list[str]:
    return [word.answer.decision for word in words]


@pytest.mark.parametrize(("step_s", "held"), [(0.5, 1), (0.25, 2), (0.1, 5), (1.0, 1)])
def test_a_word_for_the_user_waits_for_half_a_second(
    template: Template,
    cohort: Cohort,
    user: FloatArray,
    ask: Callable[[], PendingWindow],
    step_s: float,
    held: int,
) -> None:
    tracker = open_tracker(template, cohort, replace(BALANCED, step_s=step_s))

    heard = [decisions(tracker.weigh(ask(), user)) for _ in range(held + 1)]

    assert heard == [[]] * held + [["accept"]]


def test_a_word_against_the_user_counts_at_once_and_after_the_one_before(
    template: Template,
    cohort: Cohort,
    user: FloatArray,
    stranger: FloatArray,
    ask: Callable[[], PendingWindow],
) -> None:
    tracker = open_tracker(template, cohort)
    tracker.weigh(ask(), user)

    assert decisions(tracker.weigh(ask(), stranger)) == ["accept", "reject"]
    assert decisions(tracker.weigh(ask(), stranger)) == ["reject"]


@pytest.mark.parametrize(
    "happen",
    [IdentityTracker.startle, IdentityTracker.doubt, IdentityTracker.meet, IdentityTracker.forget],
)
def test_what_waits_is_dropped_when_a_hand_may_have_been_there(
    template: Template,
    cohort: Cohort,
    user: FloatArray,
    ask: Callable[[], PendingWindow],
    happen: Callable[[IdentityTracker], None],
) -> None:
    tracker = open_tracker(template, cohort)
    tracker.weigh(ask(), user)

    happen(tracker)

    assert tracker.wait() == []
    assert tracker.wait() == []


def test_after_the_user_was_forgotten_nothing_is_weighed(
    template: Template, cohort: Cohort, user: FloatArray, ask: Callable[[], PendingWindow]
) -> None:
    tracker = open_tracker(template, cohort)
    tracker.forget()

    assert tracker.weigh(ask(), user) == []
    assert tracker.wearing is None
