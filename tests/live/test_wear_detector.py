"""Worn, lively, handled or removed, told by the last second or two."""

from functools import cache

import numpy as np
import pytest

from acclock.live.wear_detector import Sign, WearDetector
from acclock.simulation import Movement, Scene, draw_person, simulate
from acclock.values import BoolArray, FloatArray

RATE_HZ = 100.0
SEED = 31


@cache
def worn(
    person: int, movement: Movement = "still", removed_at_s: float | None = None
) -> FloatArray:
    scene = Scene(duration_s=40.0, movement=movement, removed_at_s=removed_at_s)
    return simulate(draw_person(person, seed=SEED), scene, seed=SEED).recording.samples


def detector(samples: FloatArray, received: BoolArray | None = None) -> list[Sign]:
    arrived = np.ones(samples.shape[1], dtype=bool) if received is None else received
    return WearDetector(RATE_HZ).push(np.where(arrived, samples, 0.0), arrived)


def after_s(signs: list[Sign], wanted: set[Sign]) -> float:
    return next((2.5 + 0.25 * n for n, sign in enumerate(signs) if sign in wanted), np.inf)


@pytest.mark.parametrize("person", range(4))
def test_a_quiet_wearer_is_worn(person: int) -> None:
    signs = detector(worn(person))

    assert set(signs) <= {"worn", "lively"}
    assert signs.count("worn") > 0.9 * len(signs)


@pytest.mark.parametrize("person", range(8))
def test_taking_it_out_is_seen_within_two_seconds(person: int) -> None:
    signs = detector(worn(person, removed_at_s=20.0))

    assert 20.0 < after_s(signs, {"handled", "removed"}) <= 21.6
    assert signs[-1] == "removed"


@pytest.mark.parametrize("person", range(4))
def test_sliding_it_out_without_a_shake_is_seen_by_the_stillness(person: int) -> None:
    noise = 0.041 * np.random.default_rng(person).standard_normal((3, 1000))
    before = worn(person)[:, :2000]

    signs = detector(np.hstack([before, noise + before.mean(axis=1, keepdims=True)]))

    assert 20.0 < after_s(signs, {"removed"}) <= 22.0


@pytest.mark.parametrize("movement", ["talk", "head-shake", "walk"])
def test_motion_on_top_of_a_heartbeat_is_lively_and_no_removal(movement: Movement) -> None:
    signs = detector(np.hstack([worn(0), worn(0, movement)]))[160:]

    assert "removed" not in signs
    assert "handled" not in signs
    assert signs.count("lively") > len(signs) / 3


@pytest.mark.parametrize("person", range(4))
def test_motion_above_the_band_that_is_read_excuses_nobody(person: int) -> None:
    times = np.arange(4000) / RATE_HZ
    burst = (times > 20.0) * (times % 2.0 < 1.0) * 0.6 * np.sin(2.0 * np.pi * 47.0 * times)

    signs = detector(worn(person) + burst)[72:]  # from when the first of them is heard

    assert signs.count("lively") <= detector(worn(person))[72:].count("lively") + 1


def test_running_shakes_like_a_hand() -> None:
    assert "handled" in detector(worn(0, "run"))


def test_turning_over_is_handling_unless_there_is_no_gravity() -> None:
    still = np.random.default_rng(1).normal(0.0, 0.05, (3, 1000))
    turned = still + np.repeat([[9.8, 0.0], [0.0, 9.8], [0.0, 0.0]], 500, axis=1)

    assert "handled" in detector(turned)
    assert "handled" not in detector(still)


def test_lost_packets_are_no_shake() -> None:
    received = np.random.default_rng(2).random(4000 // 6 + 1) > 0.2
    arrived = np.repeat(received, 6)[:4000]

    assert "handled" not in detector(worn(1), arrived)
    assert "removed" not in detector(worn(1), arrived)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_however_it_is_cut_the_signs_are_the_same(size: int) -> None:
    samples = worn(2)[:, :1500]
    one = WearDetector(RATE_HZ)

    cut = [
        sign
        for start in range(0, 1500, size)
        for sign in one.push(
            samples[:, start : start + size],
            np.ones(samples[:, start : start + size].shape[1], bool),
        )
    ]

    assert cut == detector(samples)


def test_memory_is_bounded() -> None:
    one, noise = WearDetector(RATE_HZ), np.random.default_rng(3).normal(0.0, 0.3, (3, 6000))

    def seen() -> int:
        one.push(noise, np.ones(6000, dtype=bool))
        return len(one._levels)

    sizes = [seen() for _ in range(7)]

    assert sizes[-1] == sizes[-2]


def unsettled_at(samples: FloatArray) -> list[float]:
    """Give the times at which something may turn out to be a hand."""
    one, times = WearDetector(RATE_HZ), []
    for start in range(0, samples.shape[1], 25):
        one.push(samples[:, start : start + 25], np.ones(25, dtype=bool))
        times += [(start + 25) / RATE_HZ] if one.unsettled else []
    return times


@pytest.mark.parametrize("person", range(8))
def test_a_hand_is_felt_before_it_is_known_to_be_one(person: int) -> None:
    felt = [at_s for at_s in unsettled_at(worn(person, removed_at_s=20.0)) if at_s > 20.0]

    assert felt[0] <= 20.5
    assert felt[:8] == [felt[0] + 0.25 * n for n in range(8)]  # two seconds at least


@pytest.mark.parametrize("person", range(4))
def test_a_quiet_heart_startles_nobody(person: int) -> None:
    assert len(unsettled_at(worn(person))) <= 9  # of 160 looks: one start at most


def test_motion_that_goes_on_startles_only_when_it_begins() -> None:
    times = unsettled_at(np.hstack([worn(0), worn(0, "walk")]))

    assert times[0] <= 41.0
    assert len([at_s for at_s in times if at_s > 44.0]) < 40  # of 144
