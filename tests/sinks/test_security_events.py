from typing import TYPE_CHECKING, Any

import pytest

from acclock.sinks.security_events import CAEP, Addresses, ReceiverState, claims, react

if TYPE_CHECKING:
    from tests.sinks.conftest import News

ADDRESSES = Addresses(issuer="https://me.example", audience="https://idp.example/caep")


def notify(news: "News", *kinds: str, **changes: object) -> list[dict[str, dict[str, Any]]]:
    receiver_state, said = ReceiverState(), list[dict[str, dict[str, Any]]]()
    for kind in kinds:
        receiver_state, now = react(receiver_state, news(kind, **changes))  # type: ignore[arg-type]
        said.append(now)
    return said


@pytest.mark.parametrize(
    ("kinds", "decision", "types"),
    [
        (["started"], "no_signal", [[]]),
        (["unlocked"], "accept", [["assurance-level-change"]]),
        (["unlocked", "locked"], "no_signal", [["assurance-level-change"], ["session-revoked"]]),
        (
            ["unlocked", "locked", "unlocked"],
            "reject",
            [
                ["assurance-level-change"],
                ["session-revoked", "risk-level-change"],
                ["assurance-level-change", "risk-level-change"],
            ],
        ),
        (["lockout", "lockout"], "reject", [["risk-level-change"], []]),
        (
            ["unlocked", "lockout"],
            "reject",
            [["assurance-level-change"], ["session-revoked", "risk-level-change"]],
        ),
        (["unlocked", "stopped"], "accept", [["assurance-level-change"], ["session-revoked"]]),
        (["unlocked", "confidence"], "accept", [["assurance-level-change"], []]),
        (["locked", "locked", "stopped"], "no_signal", [[], [], []]),
    ],
)
def test_a_session_says_by_caep(
    kinds: list[str], decision: str, types: list[list[str]], news: "News"
) -> None:
    said = notify(news, *kinds, decision=decision)

    assert [list(now) for now in said] == types


def test_a_change_of_confidence_has_its_direction(news: "News") -> None:
    receiver_state, _ = react(ReceiverState(), news("unlocked", confidence="high"))

    _, said = react(receiver_state, news("confidence", confidence="medium"))

    assert said == {
        "assurance-level-change": {
            "event_timestamp": 1740821415,
            "initiating_entity": "policy",
            "reason_admin": {"en": "nothing was heard yet"},
            "namespace": "acclock-confidence",
            "current_level": "medium",
            "previous_level": "high",
            "change_direction": "decrease",
        }
    }


def test_a_lockout_is_a_high_risk_of_the_user(news: "News") -> None:
    ((said),) = notify(news, "lockout", reason="too many strangers")

    assert said["risk-level-change"] == {
        "event_timestamp": 1740821415,
        "initiating_entity": "policy",
        "reason_admin": {"en": "too many strangers"},
        "principal": "USER",
        "current_level": "HIGH",
        "previous_level": "LOW",
        "risk_reason": "TOO_MANY_STRANGERS",
    }


def test_a_token_has_the_claims_of_the_framework_and_no_heartbeat(news: "News") -> None:
    event = news("locked", heart_rate_bpm=61.0)

    said = claims(event, "session-revoked", {"event_timestamp": 1}, ADDRESSES, issued_s=2)

    jti = said.pop("jti")
    assert len(jti) == 32
    assert said == {
        "iss": "https://me.example",
        "aud": "https://idp.example/caep",
        "iat": 2,
        "txn": "s1",
        "sub_id": {"format": "iss_sub", "iss": "https://me.example", "sub": "anna"},
        "events": {f"{CAEP}session-revoked": {"event_timestamp": 1}},
    }


def test_one_event_has_one_number_and_two_have_two(news: "News") -> None:
    one, other = news("locked"), news("locked")

    numbers = [
        claims(event, kind, {}, ADDRESSES, issued_s=issued_s)["jti"]
        for event, kind, issued_s in [
            (one, "session-revoked", 1),
            (one, "session-revoked", 2),
            (one, "risk-level-change", 1),
            (other, "session-revoked", 1),
        ]
    ]

    assert numbers[0] == numbers[1]
    assert len(set(numbers)) == 3


@pytest.mark.parametrize("kept", [b"{", b"[]", b'{"assurance": "very"}', b'{"other": 1}', b"1"])
def test_a_standing_that_cannot_be_read_is_revoked(kept: bytes, news: "News") -> None:
    _, said = react(ReceiverState.from_json(kept), news("started"))

    assert list(said) == ["session-revoked"]


def test_a_standing_survives_being_kept() -> None:
    receiver_state = ReceiverState(assurance="medium", risk="HIGH")

    assert ReceiverState.from_json(receiver_state.as_json()) == receiver_state
    assert ReceiverState.from_json(b"") == ReceiverState()
