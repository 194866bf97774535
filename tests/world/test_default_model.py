"""The model inside the package is what its card, its page and its recipe say."""

from pathlib import Path

import numpy as np
import pytest

from acclock.embedding.embedder import Embedder
from acclock.pipeline import Preparation, prepare
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.grid import fingerprint
from acclock.training.recipes import read_recipe
from acclock.world.models.files import find_model, read_model
from acclock.world.weights import load_weights

PAGE = Path(__file__).parents[2] / "docs" / "model-card.md"


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder(read_model(find_model("default")))


def test_the_file_is_small() -> None:
    assert find_model("default").stat().st_size < 5_000_000


def test_weights_and_file_are_one_model(embedder: Embedder) -> None:
    _, card = load_weights("default")

    assert card == embedder.card


def test_the_recipe_is_that_of_the_model(embedder: Embedder) -> None:
    recipe = read_recipe(find_model("default").with_suffix(".toml").read_text())
    card = embedder.card

    assert (recipe.network, recipe.rate_hz, recipe.axes) == (card.network, card.rate_hz, card.axes)
    assert recipe.preparation == card.preparation
    assert fingerprint(recipe.prepared) == card.denoiser


def test_the_page_shows_the_figures_of_the_card(embedder: Embedder) -> None:
    page = PAGE.read_text(encoding="utf-8")

    for source in ("mscardio", "simulated"):
        for windows in (1, 5, 15):
            name = f"{source}_equal_error_{windows}"
            error, low, high = (
                100 * embedder.card.metrics[name + end] for end in ("", "_low", "_high")
            )
            assert f"{error:.1f} % ({low:.1f}-{high:.1f})" in page, name


def test_new_simulated_people_are_told_apart(embedder: Embedder) -> None:
    preparation = Preparation(name="bandpass")
    embeddings = []
    for index in range(4):
        worn = simulate(draw_person(index, seed=99), Scene(duration_s=36.0)).recording
        windows = [one.samples for one in prepare(worn, preparation, step_s=4.0)][2:]
        embeddings.append(embedder.embed(np.stack(windows)))

    centers = np.stack([rows.mean(axis=0) for rows in embeddings])
    distances = np.stack(
        [[np.linalg.norm(r - c, axis=1).mean() for c in centers] for r in embeddings]
    )

    assert (distances.argmin(axis=1) == np.arange(4)).all()
