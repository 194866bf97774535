import hashlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from acclock.vault.records import _normal_numbers, rotation

EXPECTED = [-0.8648846561605309, -0.1913395519498909, 0.20285384709515858, -0.7017165523306182]

SEEDS = st.binary(min_size=32, max_size=32)


@given(seed=SEEDS, width=st.integers(2, 40))
def test_a_rotation_keeps_every_distance(seed: bytes, width: int) -> None:
    turn = rotation(seed, width)

    np.testing.assert_allclose(turn @ turn.T, np.eye(width), atol=1e-12)


@given(seed=SEEDS, other=SEEDS)
def test_another_seed_turns_elsewhere(seed: bytes, other: bytes) -> None:
    vector = np.ones(64) / 8.0

    distance = np.linalg.norm(vector @ rotation(seed, 64) - vector @ rotation(other, 64))

    assert (distance == 0.0) if seed == other else (distance > 0.9)


def test_a_seed_means_the_same_for_ever() -> None:
    numbers = _normal_numbers(hashlib.sha256(b"acclock").digest(), 4)

    np.testing.assert_allclose(numbers, EXPECTED, rtol=1e-12)


def test_the_numbers_are_normal() -> None:
    numbers = _normal_numbers(bytes(32), 100_000)

    assert abs(numbers.mean()) < 0.01
    assert abs(numbers.std() - 1.0) < 0.01
    assert abs((np.abs(numbers) < 1.0).mean() - 0.6827) < 0.005


def test_no_direction_is_preferred() -> None:
    """Uniform over all rotations: an entry has variance 1/n, and no sign."""
    entries = np.array([rotation(bytes([n % 256, n // 256]) + bytes(30), 8) for n in range(2000)])

    assert np.abs(entries.mean(axis=0)).max() < 5 * np.sqrt(1 / 8 / 2000)
    assert np.abs((entries**2).mean(axis=0) - 1 / 8).max() < 0.02
    determinants = np.linalg.det(entries)
    assert 0.45 < (determinants > 0).mean() < 0.55
