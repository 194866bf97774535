"""How long a window takes, block by block."""

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from acclock.embedding.embedder import Embedder
from acclock.embedding.networks.registry import build
from acclock.experiments.paper.units import Outcome, Unit
from acclock.matching.centers import distances_to
from acclock.models.files import find_model, read_model
from acclock.pipeline import Preparation
from acclock.pipeline.preparation import make_windows
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.export import describe_model, export
from acclock.training.grid import bring_to
from acclock.training.recipe import Recipe, read_recipe

_REPEATS = 100
"""As in the paper."""
SHIPPED = 1.0
"""The ``setting`` that takes the model that ships, and not one of the variant's recipe."""


def measure(unit: Unit) -> Outcome:
    """Time each block by itself.

    Paper: Sec. 7.6.1, where every block is measured 100 times. How long it takes does not hang on
    what the weights are, so those of other rates are as they were drawn.
    """
    if unit.variant.setting == SHIPPED:
        embedder = Embedder(read_model(find_model("default")))
    else:
        embedder = Embedder(_make(read_recipe(unit.recipe)))
    preparation = Preparation.of(embedder.card)
    recording = simulate(draw_person(0, seed=unit.seed), Scene(duration_s=30.0)).recording
    brought = bring_to(recording, preparation.rate_hz)
    context = brought.samples[:, -preparation.config.context_length :]
    windows = make_windows(context, preparation)[0][np.newaxis, : embedder.card.axes]
    rows = embedder.embed(windows)
    blocks = {
        "denoising, ms": _time_ms(lambda: make_windows(context, preparation)),
        "features, ms": _time_ms(lambda: embedder.embed(windows)),
        "deciding, ms": _time_ms(lambda: distances_to(rows[0], rows)),
    }
    return Outcome(values=blocks | {"sum, ms": sum(blocks.values())})


def _make(recipe: Recipe) -> bytes:
    """Give a model as it runs, with weights that nobody has trained."""
    model = build(
        recipe.network,
        shape=recipe.shape,
        people=2,
        seed=0,
        config=recipe.network_config,
        embedding_width=recipe.embedding_width,
    ).eval()
    card = describe_model(
        model, recipe, name="untrained", people=("0", "1"), training_data=("none",)
    )
    return export(model, card)


def _time_ms(do: Callable[[], object]) -> float:
    taken = []
    for _ in range(_REPEATS):
        begun = time.thread_time()  # not the clock: others may be at work here too
        do()
        taken.append(time.thread_time() - begun)
    return 1000.0 * median(taken)
