from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.heart_rate import UNREAD
from acclock.denoising.quality import WindowQuality, judge, judge_all

CONFIG = DenoiseConfig()
SECONDS = np.arange(2048) / 100.0


def wear(bpm: float = 72.0, *, seed: int = 0) -> np.ndarray:
    """Twenty seconds in the ear: beats on three axes, gravity, and the noise of a sensor."""
    phase = SECONDS % (60.0 / bpm)
    beats = 0.4 * np.sin(2 * np.pi * 7.0 * phase) * np.exp(-9.0 * phase)
    noise = 0.02 * np.random.default_rng(seed).normal(size=(3, 2048))
    return np.asarray(np.outer([1.0, 0.4, 0.2], beats) + noise + [[0.0], [9.6], [2.0]])


def look(
    context: np.ndarray, *, received: np.ndarray | None = None, fresh: int = 2048
) -> WindowQuality:
    mask = np.ones(2048, bool) if received is None else received
    return judge(context, mask, fresh=fresh, config=CONFIG)


def test_a_quiet_wearer_is_undisturbed_and_beats_clearly() -> None:
    quality = look(wear(72.0))

    assert quality.disturbance == "none"
    assert quality.usable
    assert quality.heart_rate.clear
    assert quality.heart_rate.bpm == pytest.approx(72, abs=2)
    assert quality.regularity > 0.9
    assert quality.beat_to_noise_db > 6


@pytest.mark.parametrize("seed", range(10))
def test_on_a_table_nobody_is_there(seed: int) -> None:
    table = 0.02 * np.random.default_rng(seed).normal(size=(3, 2048)) + 9.81

    quality = look(table)

    assert quality.disturbance == "absence"
    assert not quality.usable


def nod(context: np.ndarray, strength: float) -> np.ndarray:
    context[:, -200:-120] += strength * np.sin(np.linspace(0, 4 * np.pi, 80))
    return context


def walk(context: np.ndarray) -> np.ndarray:
    return context + 3.0 * np.sin(2 * np.pi * 1.9 * SECONDS)


def clip(context: np.ndarray) -> np.ndarray:
    return np.clip(context + 30.0 * np.sin(2 * np.pi * 1.5 * SECONDS), -19.6, 19.6)


@pytest.mark.parametrize(
    ("name", "context", "changes", "usable"),
    [
        ("event", nod(wear(), 3.0), {}, True),
        ("event", nod(wear(), 0.5), {}, True),
        ("activity", walk(wear()), {}, True),
        ("saturation", clip(wear()), {}, False),
        ("silence", np.full((3, 2048), 9.81), {}, False),
        ("gap", wear(), {"received": SECONDS < 18.0}, False),
        ("warm-up", wear(), {"fresh": 799}, False),
        ("warm-up", np.zeros((3, 2048)), {"fresh": 0}, False),
    ],
)
def test_a_disturbance_is_called_by_its_name(
    name: str, context: np.ndarray, changes: dict[str, Any], usable: bool
) -> None:
    quality = look(context, **changes)

    assert quality.disturbance == name
    assert quality.usable is usable


@pytest.mark.parametrize("missing", [0, 1, 100, 400])
def test_the_missing_share_is_that_of_the_window(missing: int) -> None:
    received = np.arange(2048) < 2048 - missing
    received[:500] = False

    assert look(wear(), received=received).missing_share == pytest.approx(missing / 400)


@given(scale=st.sampled_from([0.0, 1e-300, 1e-9, 1.0, 1e5]), fresh=st.integers(0, 2048))
def test_whatever_comes_the_numbers_are_numbers(scale: float, fresh: int) -> None:
    context = scale * np.sin(np.arange(3 * 2048.0)).reshape(3, 2048)

    quality = look(context, fresh=fresh)

    measured = [
        quality.heart_rate.bpm,
        quality.heart_rate.clarity,
        quality.regularity,
        quality.beat_to_noise_db,
        quality.fluctuation,
        quality.saturated_share,
    ]
    assert np.isfinite(measured).all()


def test_many_judged_in_one_go_are_judged_as_if_each_were_alone() -> None:
    kinds = [wear(), nod(wear(), 3.0), walk(wear()), clip(wear()), np.full((3, 2048), 9.81)]
    contexts = np.stack([*kinds * 3, np.zeros((3, 2048)), wear(150.0, seed=4)])
    received = np.random.default_rng(5).random((len(contexts), 2048)) < 0.8
    fresh = np.array([2048] * 9 + [0, 250, 700, 700, 2048, 2048, 1200, 2048])

    together = judge_all(contexts, received, fresh=fresh, config=CONFIG)

    alone = [
        judge(context, mask, fresh=int(since), config=CONFIG)
        for context, mask, since in zip(contexts, received, fresh, strict=True)
    ]
    assert [one.disturbance for one in together] == [one.disturbance for one in alone]
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(_numbers(one), _numbers(other), rtol=1e-12, atol=1e-12)


def test_a_heart_rate_is_read_where_it_is_asked_for_or_decides() -> None:
    table = 0.02 * np.random.default_rng(1).normal(size=(3, 2048)) + 9.81
    contexts = np.stack([wear(), wear(seed=4), table, wear()])
    everything = np.ones((4, 2048), dtype=bool)
    fresh, paced = np.full(4, 2048), np.array([True, False, False, False])

    some = judge_all(contexts, everything, fresh=fresh, config=CONFIG, paced=paced)
    every = judge_all(contexts, everything, fresh=fresh, config=CONFIG)

    assert [one.heart_rate is UNREAD for one in some] == [False, True, False, True]
    assert [one.disturbance for one in some] == [one.disturbance for one in every]
    assert [some[0].heart_rate, some[2].heart_rate] == [every[0].heart_rate, every[2].heart_rate]


@pytest.mark.parametrize(("fresh", "whole"), [(0, 400), (799, 400), (1150, 800), (2047, 2000)])
def test_a_young_stream_is_judged_by_its_whole_windows(fresh: int, whole: int) -> None:
    context = wear()
    older = context.copy()
    older[:, :-whole] += 5.0 * np.random.default_rng(1).normal(size=(3, 2048 - whole))

    assert _numbers(look(older, fresh=fresh)) == _numbers(look(context, fresh=fresh))


def test_a_whole_context_is_judged_as_a_whole() -> None:
    context = wear()
    older = context.copy()
    older[:, :48] += 5.0

    assert _numbers(look(older)) != _numbers(look(context))


def _numbers(quality: WindowQuality) -> list[float]:
    told = asdict(quality)
    return [
        *told.pop("heart_rate").values(),
        *(told[name] for name in told if name != "disturbance"),
    ]
