"""What stage 2 and the compiled kernels are for, on a small scale; the benchmark has the large."""

import time
from collections.abc import Callable
from typing import NoReturn

import numpy as np
import pytest
import pywt

from acclock.denoising import kernels
from acclock.denoising.config import DenoiseConfig
from acclock.denoising.inherent import join, split
from acclock.pipeline import Preparation, trace
from acclock.simulation import Movement, Scene, draw_person, simulate

CONFIG = DenoiseConfig()
WHOLE = [slice(start, start + 400) for start in range(2400, 4400, 400)]
"""The windows of a 44 s recording that have a whole context."""


def correlate(one: np.ndarray, other: np.ndarray) -> float:
    return float((one * other).sum() / np.sqrt(np.square(one).sum() * np.square(other).sum()))


def gain_db(guess: np.ndarray, other: np.ndarray, truth: np.ndarray) -> float:
    return float(10 * np.log10(np.square(other - truth).sum() / np.square(guess - truth).sum()))


@pytest.mark.parametrize("movement", ["blink", "head-shake", "talk"])
def test_stage_two_brings_windows_with_an_event_closer_to_the_truth(movement: Movement) -> None:
    scene = Scene(duration_s=44.0, movement=movement)

    likeness, gains = [], []
    for person in range(5):
        lived = simulate(draw_person(person), scene, seed=person)
        steps = trace(lived.recording, Preparation())
        for window in WHOLE:
            truth, first = lived.truth[:, window], steps.shrunk[:, window]
            both = steps.recovered[:, window]
            likeness.append(correlate(both, truth) - correlate(first, truth))
            gains.append(gain_db(both, first, truth))

    assert np.mean(likeness) > 0.02
    assert np.mean(gains) > 0.5


def test_stage_one_is_many_times_faster_than_pywavelets(
    absent: Callable[[str], NoReturn],
) -> None:
    if not kernels.COMPILED:
        absent("the compiled kernels were not built")
    row = np.random.default_rng(1).normal(size=(1, CONFIG.context_length))

    ours = time_best(lambda: join(split(row, CONFIG), CONFIG))
    transform_alone = time_best(lambda: pywt.iswt(pywt.swt(row[0], "dmey", 6), "dmey"))

    assert ours < transform_alone / 4


def time_best(deed: Callable[[], object]) -> float:
    took = []
    for _ in range(15):
        start = time.thread_time()
        deed()
        took.append(time.thread_time() - start)
    return min(took)
