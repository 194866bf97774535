"""Policies are checked when they are made."""

import pytest

from acclock.errors import ConfigError
from acclock.live.policies import POLICIES, Policy, policy_named


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("entry", "face"),
        ("step_s", 0.0),
        ("step_s", 2.0),
        ("revoke_nats", -1.0),
        ("grace_s", float("nan")),
        ("grace_s", float("inf")),
        ("most_lost", 1.5),
        ("episodes", 0),
        ("confirm_s", 15.0),
        ("cohort_factor", 0.0),
        ("cohort_factor", 3.5),
        ("wearing_factor", 3.5),
    ],
)
def test_a_senseless_policy_is_refused(field: str, value: object) -> None:
    with pytest.raises(ConfigError):
        Policy(**{field: value})  # type: ignore[arg-type]


def test_the_stricter_policy_is_stricter_in_everything() -> None:
    strict, balanced, comfortable = (POLICIES[n] for n in ("strict", "balanced", "comfortable"))

    for field in (
        "cohort_factor",
        "wearing_factor",
        "revoke_nats",
        "confirm_s",
        "grace_s",
        "resume_s",
    ):
        values = [getattr(policy, field) for policy in (strict, balanced, comfortable)]
        assert values == sorted(values)
        assert len(set(values)) == 3


def test_no_policy_takes_more_strangers_for_the_user_than_it_may() -> None:
    most = {"strict": 1.0, "balanced": 2.0, "comfortable": 3.0}

    for name, factor in most.items():
        assert POLICIES[name].cohort_factor <= POLICIES[name].wearing_factor <= factor


def test_no_policy_opens_by_heartbeat_unless_asked() -> None:
    assert {policy.entry for policy in POLICIES.values()} == {"grant"}


def test_the_heartbeat_alone_must_prove_more() -> None:
    alone = policy_named("balanced").opened_by("heartbeat")

    assert alone.needed_nats > policy_named("balanced").needed_nats
    assert alone.needed_s > policy_named("balanced").needed_s


def test_an_unknown_policy_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'lax'.*strict, balanced, comfortable"):
        policy_named("lax")
