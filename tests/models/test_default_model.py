"""The model inside the package is what its card, its page and its recipe say."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from acclock.embedding.embedder import Embedder
from acclock.matching.enrollment import enroll
from acclock.matching.verification import verify
from acclock.models.cohorts import cohort_path, read_cohort
from acclock.models.files import find_model, read_model
from acclock.pipeline.observation import observe
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.checkpoint import load_weights
from acclock.training.grid import fingerprint
from acclock.training.recipe import read_recipe
from acclock.values import FloatArray

PAGE = Path(__file__).parents[2] / "docs" / "model-card.md"


SHIPPED = ("default", "default-50", "default-25")


@pytest.fixture(scope="module", params=SHIPPED)
def path(request: pytest.FixtureRequest) -> Path:
    return find_model(request.param)


@pytest.fixture(scope="module")
def embedder(path: Path) -> Embedder:
    return Embedder(read_model(path))


def test_the_file_is_small(path: Path) -> None:
    assert path.stat().st_size < 5_000_000


def test_weights_and_file_are_one_model() -> None:
    _, card = load_weights("default")

    assert card == Embedder(read_model(find_model("default"))).card


def test_the_recipe_is_that_of_the_model(path: Path, embedder: Embedder) -> None:
    recipe = read_recipe(path.with_suffix(".toml").read_text())
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


def wear(index: int, session: int, embedder: Embedder) -> FloatArray:
    scene = Scene(duration_s=132.0, session=session, rate_hz=embedder.card.rate_hz)
    return observe(simulate(draw_person(index, seed=99), scene).recording, embedder).good


def test_an_earphone_of_its_rate_knows_its_user_from_strangers(
    path: Path, embedder: Embedder
) -> None:
    cohort = read_cohort(cohort_path(path), model=embedder.fingerprint)
    known = enroll(wear(0, 0, embedder), cohort=cohort, now=datetime.now(UTC))

    assert verify(known, wear(0, 1, embedder), cohort=cohort).accepted
    for stranger in (1, 2, 3, 4):
        assert not verify(known, wear(stranger, 0, embedder), cohort=cohort).accepted
