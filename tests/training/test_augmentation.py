import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ConfigError
from acclock.training.augmentation import (
    Augmentation,
    augment,
    change_pace,
    draw_turns,
    lose_packets,
)

LENGTH = 256


@given(seed=st.integers(0, 2**32), most=st.floats(0.0, np.pi))
def test_a_turn_keeps_lengths_and_angles_and_never_mirrors(seed: int, most: float) -> None:
    turns = draw_turns(5, most, np.random.default_rng(seed))

    np.testing.assert_allclose(
        turns @ turns.transpose(0, 2, 1), np.tile(np.eye(3), (5, 1, 1)), atol=1e-12
    )
    assert np.allclose(np.linalg.det(turns), 1.0)
    traces = np.trace(turns, axis1=1, axis2=2)
    assert (traces >= 1.0 + 2.0 * np.cos(most) - 1e-9).all()


@pytest.mark.paper("Sec. 7.4.9")
def test_packets_are_lost_in_four_equal_parts() -> None:
    received = np.ones((4000, 500), dtype=bool)

    lost = 1.0 - lose_packets(received, np.random.default_rng(1)).mean(axis=1)

    assert (lost == 0).sum() >= 1000
    assert (lost == 0).sum() < 1030  # of those with up to 10 %, a few lose nothing by chance
    shares = np.sort(lost[lost > 0])
    assert abs((shares < 0.1).sum() - 1000) < 60
    assert abs(((shares >= 0.1) & (shares < 0.2)).sum() - 1000) < 60
    assert shares.max() < 0.37


def test_packet_loss_is_redrawn() -> None:
    received = np.ones((8, 500), dtype=bool)
    chance = np.random.default_rng(1)

    assert not np.array_equal(lose_packets(received, chance), lose_packets(received, chance))


def test_a_faster_heart_beats_faster_and_ends_where_it_did() -> None:
    seconds = np.arange(1000) / 100.0
    tone = np.sin(2 * np.pi * 2.0 * (seconds - seconds[-1]))
    contexts = np.tile(tone, (1, 3, 1))

    faster, _ = change_pace(contexts, np.ones((1, 1000), dtype=bool), np.array([1.25]), length=800)

    expected = np.sin(2 * np.pi * 2.5 * (seconds[-800:] - seconds[-1]))
    np.testing.assert_allclose(faster[0, 0, 50:-50], expected[50:-50], atol=0.01)


def test_a_context_with_holes_keeps_its_pace() -> None:
    contexts = np.random.default_rng(2).normal(size=(1, 3, 300))
    received = np.ones((1, 300), dtype=bool)
    received[0, 100] = False

    same, _ = change_pace(contexts, received, np.array([1.1]), length=LENGTH)

    np.testing.assert_array_equal(same, contexts[..., -LENGTH:])


def test_nothing_to_change_changes_nothing() -> None:
    contexts = np.random.default_rng(3).normal(size=(4, 3, LENGTH))
    received = np.ones((4, LENGTH), dtype=bool)

    same, arrived = augment(
        contexts,
        received,
        length=LENGTH,
        augmentation=Augmentation.none(),
        chance=np.random.default_rng(0),
    )

    np.testing.assert_allclose(same, contexts, atol=1e-12)
    assert arrived.all()
    assert not Augmentation.none().changes


def test_what_is_lost_is_zero_and_known_to_be_lost_and_the_input_is_untouched() -> None:
    augmentation = Augmentation()
    contexts = 9.8 + np.random.default_rng(4).normal(size=(16, 3, augmentation.reach(LENGTH)))
    before = contexts.copy()

    changed, arrived = augment(
        contexts,
        np.ones((16, contexts.shape[-1]), dtype=bool),
        length=LENGTH,
        augmentation=augmentation,
        chance=np.random.default_rng(5),
    )

    assert changed.shape == (16, 3, LENGTH)
    assert (~arrived).any()
    assert (changed.transpose(0, 2, 1)[~arrived] == 0).all()
    np.testing.assert_array_equal(contexts, before)


@pytest.mark.parametrize(
    "wrong", [{"noise": -1.0}, {"pace": 0.6}, {"rotation_deg": 200.0}, {"gain": float("nan")}]
)
def test_an_augmentation_out_of_range_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Augmentation(**wrong)  # type: ignore[arg-type]
