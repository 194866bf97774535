"""How long the shipped model takes for a window, block by block, and what an hour of it costs."""

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from acclock.embedding.embedder import Embedder
from acclock.experiments.paper.units import Outcome, Unit
from acclock.matching.centers import distances_to
from acclock.pipeline import Preparation
from acclock.pipeline.windows import make_windows
from acclock.simulation import Scene, draw_person, simulate
from acclock.world.models.files import find_model, read_model

_REPEATS = 100
"""As in the paper."""
_STEP_S = 0.1
"""The paper decides anew every 100 ms."""
_BYTES = 2
"""Of one sample of one axis on the radio."""


def measure(unit: Unit) -> Outcome:
    """Time each block by itself, and the paper's denoising beside the one that ships.

    Paper: Sec. 7.6.1, where every block is measured 100 times, and Sec. 7.6.2 for the cost.
    """
    embedder = Embedder(read_model(find_model("default")))
    rate_hz = embedder.card.rate_hz
    recording = simulate(draw_person(0, seed=unit.seed), Scene(duration_s=30.0)).recording
    shipped, papers = Preparation.of(embedder.card), Preparation(name="paper", rate_hz=rate_hz)
    context = recording.samples[:, -shipped.config.context_length :]
    windows = make_windows(context, shipped)[0][np.newaxis, : embedder.card.axes]
    rows = embedder.embed(windows)
    denoising_ms = _time_ms(lambda: make_windows(context, shipped))
    paper_ms = _time_ms(lambda: make_windows(context, papers))
    features_ms = _time_ms(lambda: embedder.embed(windows))
    deciding_ms = _time_ms(lambda: distances_to(rows[0], rows))
    total_ms = denoising_ms + features_ms + deciding_ms
    return Outcome(
        values={
            "denoising, ms": denoising_ms,
            "denoising as in the paper, ms": paper_ms,
            "features, ms": features_ms,
            "deciding, ms": deciding_ms,
            "sum, ms": total_ms,
            "share of a core at 10 decisions a second, %": total_ms / 1000.0 / _STEP_S * 100.0,
            "cost of an hour of wearing, CPU-s": total_ms / 1000.0 / _STEP_S * 3600.0,
            "radio payload of three axes, kB/s": 3 * _BYTES * rate_hz / 1000.0,
        }
    )


def _time_ms(do: Callable[[], object]) -> float:
    taken = []
    for _ in range(_REPEATS):
        begun = time.thread_time()  # not the clock: others may be at work here too
        do()
        taken.append(time.thread_time() - begun)
    return 1000.0 * median(taken)
