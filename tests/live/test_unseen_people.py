"""Sessions of simulated people whom neither the shipped model nor any choice has met."""

import numpy as np
import pytest

from acclock.live.policies import POLICIES
from benchmarks.noises import NOISES, make_noise
from benchmarks.session import QUICK, Owner, holds, play, simulate_owners, tape

SEED = 7000


@pytest.fixture(scope="module")
def owners() -> list[Owner]:
    return simulate_owners(4, SEED, QUICK)


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_unseen_owners_are_confirmed_and_unseen_strangers_and_noise_are_not(
    owners: list[Owner], policy: str
) -> None:
    for owner in owners:
        first = play(owner.quiet[0], owner, POLICIES[policy])
        assert any(session_state.confirmed for session_state in first)
        for stranger in owner.strangers:
            assert not holds(stranger.quiet[0], owner, POLICIES[policy], granted=True)


@pytest.mark.parametrize("kind", sorted(NOISES))
def test_noise_is_confirmed_by_no_policy(owners: list[Owner], kind: str) -> None:
    shaken = make_noise(kind, np.random.default_rng(SEED), seconds=110)
    heard = tape(owners[0].encoder, shaken)

    for owner in owners:
        for policy in POLICIES.values():
            assert not holds(heard, owner, policy, granted=True)


@pytest.mark.parametrize("kind", sorted(NOISES))
def test_no_two_streams_of_noise_are_alike(kind: str) -> None:
    one, other = (make_noise(kind, np.random.default_rng(n), seconds=10) for n in (1, 2))

    assert one.shape == (3, 1000)
    assert not np.allclose(one, other)
    assert np.array_equal(one, make_noise(kind, np.random.default_rng(1), seconds=10))
    assert 0.02 < (one - one.mean(axis=1, keepdims=True)).std() < 0.6
