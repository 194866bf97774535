import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ConfigError
from acclock.matching.verdict import Verdict, WindowFault

ANY = st.floats(allow_nan=True, allow_infinity=True)


@pytest.mark.paper("Eq. 11")
@given(distance=ANY, threshold=ANY)
def test_accepted_is_strictly_below_and_nothing_else(distance: float, threshold: float) -> None:
    verdict = Verdict(distance=distance, threshold=threshold)

    assert verdict.accepted is (distance < threshold)
    assert (verdict.decision == "accept") is verdict.accepted


@given(distance=ANY, threshold=ANY, fault=st.sampled_from(WindowFault))
def test_a_fault_is_never_accepted(distance: float, threshold: float, fault: WindowFault) -> None:
    verdict = Verdict(distance=distance, threshold=threshold, fault=fault)

    assert not verdict.accepted
    assert verdict.decision in ("uncertain", "no_signal")
    assert verdict.confidence == "low"


@pytest.mark.parametrize(
    ("distance", "fault", "decision", "confidence"),
    [
        (0.1, None, "accept", "high"),
        (0.4, None, "accept", "medium"),
        (0.49, None, "accept", "low"),
        (0.5, None, "reject", "low"),
        (0.6, None, "reject", "medium"),
        (1.4, None, "reject", "high"),
        (math.nan, None, "uncertain", "low"),
        (0.1, WindowFault.ACTIVITY, "uncertain", "low"),
        (0.1, WindowFault.WARM_UP, "uncertain", "low"),
        (0.1, WindowFault.GAP, "no_signal", "low"),
        (0.1, WindowFault.ABSENCE, "no_signal", "low"),
    ],
)
def test_decisions(
    distance: float, fault: WindowFault | None, decision: str, confidence: str
) -> None:
    verdict = Verdict(distance=distance, threshold=0.5, spread=0.1, fault=fault)

    assert (verdict.decision, verdict.confidence) == (decision, confidence)
    assert verdict.reason


def test_a_verdict_is_no_truth_value() -> None:
    verdict = Verdict(distance=0.1, threshold=0.5)

    with pytest.raises(TypeError, match="accepted"):
        bool(verdict)


def test_a_summary_tells_nothing_that_two_verdicts_of_a_kind_differ_in() -> None:
    near = Verdict(distance=0.1, threshold=0.5, spread=0.1)
    nearer = Verdict(distance=0.01, threshold=0.5, spread=0.1)

    assert near.summary() == nearer.summary()
    assert near.details() != nearer.details()
    assert not any(isinstance(value, float) for value in near.summary().values())


def test_an_unknown_fault_is_named() -> None:
    with pytest.raises(ConfigError, match="no fault 'tired'"):
        WindowFault("tired")
