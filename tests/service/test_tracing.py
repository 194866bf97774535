"""Whoever looks sees every sample once, on one axis, beside what became of it."""

from typing import Any

import numpy as np
import pytest

from acclock.pipeline import Preparation, StreamingDenoiser
from acclock.service.streams.stream_session import StreamTrace
from acclock.simulation import Scene, draw_person, simulate

RATE_HZ = 100.0
WORN = simulate(draw_person(0), Scene(duration_s=20.0)).recording.samples * [[3.0], [1.0], [1.0]]


def trace(samples: np.ndarray, size: int, *, ends: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    """Show samples in parts of a size; a wearing ends after these many of them."""
    tracing, wearing, shown = StreamTrace(RATE_HZ), 0, []
    denoiser = StreamingDenoiser(Preparation(name="bandpass"), step_s=0.5)
    for start in range(0, samples.shape[1], size):
        part = samples[:, start : start + size]
        if start in ends:
            wearing += 1
            denoiser = StreamingDenoiser(Preparation(name="bandpass"), step_s=0.5)
        tracing.hear(part, wearing, seen=True)
        shown.append(tracing.show(denoiser.push(part)))
    return [one for one in shown if one is not None]


def join(shown: list[dict[str, Any]], name: str) -> np.ndarray:
    rows = [one[name] or [None] * len(one["raw"]) for one in shown]
    return np.array([value for row in rows for value in row], dtype=np.float64)


@pytest.mark.parametrize("size", [7, 20, 50])
def test_every_sample_is_shown_once_and_beside_what_became_of_it(size: int) -> None:
    shown = trace(WORN, size)

    raw, clean = join(shown, "raw"), join(shown, "clean")
    axis = 0
    windows = StreamingDenoiser(Preparation(name="bandpass"), step_s=0.5).push(WORN)
    assert len(raw) == len(clean) >= 2000 - 50 - size
    steps, taken = np.diff(raw)[450:], np.diff(WORN[axis, : len(raw)])[450:]
    np.testing.assert_allclose(steps, taken, atol=0.02)  # nothing is missing or jumps
    assert np.isfinite(clean[450:]).all()
    last = windows[-1].samples[axis, -50:]
    end = round(windows[-1].end_s * RATE_HZ)
    np.testing.assert_allclose(clean[end - 50 : end], last, atol=1e-4)


def test_a_wearing_that_ends_leaves_no_gap_and_nothing_of_the_next_beside_it() -> None:
    shown = trace(WORN, 20, ends=(980,))

    raw, clean = join(shown, "raw"), join(shown, "clean")
    assert len(raw) >= 2000 - 70
    np.testing.assert_allclose(np.diff(raw), np.diff(WORN[0, : len(raw)]), atol=0.02)
    assert np.isfinite(clean[400:950]).all()
    assert np.isnan(clean[950 : 980 + 380]).all()
    assert np.isfinite(clean[980 + 400 :]).all()


def test_the_axis_stays_unless_another_is_far_livelier() -> None:
    draw = np.random.default_rng(0)
    quiet = draw.normal(size=(3, 2000)) * [[1.0], [0.6], [0.1]] + [[0.0], [9.8], [0.0]]
    loud = quiet.copy()
    loud[1, 1000:] += 5.0 * draw.normal(size=1000)

    steady, moved = (join(trace(one, 20), "raw") for one in (quiet, loud))

    np.testing.assert_allclose(np.diff(steady), np.diff(quiet[0, : len(steady)]), atol=0.1)
    assert moved[-300:].std() > 3.0
    assert np.abs(moved[1000:]).max() < 9.8 + 20.0


def test_nothing_is_kept_while_nobody_looks() -> None:
    tracing = StreamTrace(RATE_HZ)
    for start in range(0, 2000, 50):
        tracing.hear(WORN[:, start : start + 50], 0, seen=False)

    assert tracing.show([]) is None
