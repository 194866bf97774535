"""Four answers, each with its reason."""

from collections.abc import Callable

import pytest

from acclock.denoising.quality import Disturbance, WindowQuality
from acclock.live.answers import Reason, judge_fault, judge_weight, needs_embedding
from acclock.matching.verdict import Decision

Qualities = Callable[..., WindowQuality]


@pytest.mark.parametrize(
    ("disturbance", "decision", "reason"),
    [
        ("warm-up", "uncertain", "warm-up"),
        ("gap", "no_signal", "gap"),
        ("silence", "no_signal", "removed"),
        ("absence", "no_signal", "removed"),
        ("saturation", "uncertain", "motion"),
        ("activity", "uncertain", "motion"),
    ],
)
def test_a_faulty_window_is_neither_the_users_nor_a_strangers(
    qualities: Qualities, disturbance: Disturbance, decision: Decision, reason: str
) -> None:
    answer = judge_fault(qualities(disturbance))

    assert not needs_embedding(qualities(disturbance))
    assert (answer.decision, answer.reason.value, answer.nats) == (decision, reason, 0.0)


@pytest.mark.parametrize(
    ("nats", "lively", "decision", "reason"),
    [
        (2.0, False, "accept", "user"),
        (-2.0, False, "reject", "stranger"),
        (0.0, False, "reject", "stranger"),
        (2.0, True, "accept", "user"),
        (-2.0, True, "uncertain", "motion"),
        (None, False, "uncertain", "weak"),
        (None, True, "uncertain", "weak"),
    ],
)
def test_a_good_window_is_answered_by_its_weight(
    qualities: Qualities, nats: float | None, lively: bool, decision: Decision, reason: str
) -> None:
    answer = judge_weight(qualities("none"), nats, lively=lively)

    assert (answer.decision, answer.reason.value) == (decision, reason)
    assert answer.nats == (nats if decision in ("accept", "reject") else 0.0)


def test_every_reason_has_a_sentence_of_its_own() -> None:
    sentences = [reason.sentence for reason in Reason]

    assert len(set(sentences)) == len(list(Reason))
