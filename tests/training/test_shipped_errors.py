"""What the shipped model does on the people of a training."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from acclock.embedding.embedder import Embedder
from acclock.matching.centers import center_of
from acclock.matching.rates import equal_error
from acclock.models.files import find_model, read_model
from acclock.pipeline import Preparation, PreparationName
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.corpora import gather
from acclock.training.grid import bring_to, lay_grid
from acclock.training.on_disk import ShippedErrors, measure_shipped
from acclock.training.recipe import Recipe, find_recipe
from acclock.training.subjects import Subject, SubjectSession, deal
from acclock.values import Recording


@pytest.fixture(scope="module")
def worn() -> list[list[Recording]]:
    """Give two recordings each of four people whom no shipped model has met.

    The second is of an earphone turned by 90 degrees, so that there are errors to compare.
    """
    scenes = [Scene(duration_s=60.0, session=n, angle_deg=90.0 * n) for n in range(2)]
    people = [draw_person(index, seed=77) for index in range(4)]
    return [[simulate(person, scene).recording for scene in scenes] for person in people]


def prepare_subjects(worn: list[list[Recording]], recipe: Recipe) -> list[Subject]:
    subjects = []
    for index, recordings in enumerate(worn):
        thinned = [bring_to(recording, recipe.rate_hz) for recording in recordings]
        sessions = tuple(
            SubjectSession(recording=one, grid=lay_grid(one, recipe.prepared)) for one in thinned
        )
        subjects.append(Subject(name=f"own/{index}", source="own", sessions=sessions))
    return subjects


def choose_recipe(rate_hz: float = 100.0, preparation: PreparationName = "bandpass") -> Recipe:
    return replace(find_recipe("fast"), rate_hz=rate_hz, preparation=preparation, folds=2)


@pytest.mark.parametrize(
    ("rate_hz", "name"), [(100.0, "default"), (50.0, "default-50"), (25.0, "default-25")]
)
def test_the_error_is_that_of_the_shipped_file(
    rate_hz: float, name: str, worn: list[list[Recording]]
) -> None:
    subjects = prepare_subjects(worn, choose_recipe(rate_hz))
    embedder = Embedder(read_model(find_model(name)))

    shipped = measure_shipped(subjects, choose_recipe(rate_hz))

    preparation = Preparation.of(embedder.card)
    embedded = [
        [embedder.embed(lay_grid(bring_to(one, rate_hz), preparation).windows) for one in both]
        for both in worn
    ]
    fold = list(deal(subjects, folds=2, seed=0).values())
    distances = {
        (user, wearer): np.linalg.norm(later - center_of(first), axis=1)
        for user, (first, _) in enumerate(embedded)
        for wearer, (_, later) in enumerate(embedded)
        if fold[user] == fold[wearer]
    }
    own = np.concatenate([distances[n, n] for n in range(4)])
    others = np.concatenate([far for (one, two), far in distances.items() if one != two])
    assert shipped.model == name
    assert shipped.metrics["own_equal_error_1"] > 0
    assert shipped.metrics["own_equal_error_1"] == pytest.approx(equal_error(own, others).rate)


@pytest.mark.parametrize("preparation", ["two-stage", "paper"])
def test_the_shipped_model_reads_windows_that_are_prepared_for_it(
    preparation: PreparationName, worn: list[list[Recording]]
) -> None:
    recipe, plain = choose_recipe(25.0, preparation), choose_recipe(25.0)

    shipped = measure_shipped(prepare_subjects(worn, recipe), recipe)

    assert shipped == measure_shipped(prepare_subjects(worn, plain), plain)


def test_a_recipe_between_the_shipped_rates_is_measured_at_the_lower(
    worn: list[list[Recording]],
) -> None:
    recipe = choose_recipe(75.0)

    shipped = measure_shipped(prepare_subjects(worn, recipe), recipe)

    assert shipped.model == "default-50"
    assert shipped.metrics["own_people"] == 4


def test_people_whom_the_shipped_model_met_are_counted(
    worn: list[list[Recording]], tmp_path: Path
) -> None:
    recipe = choose_recipe(25.0)
    met = gather(["simulated:2"], recipe.prepared, cache=tmp_path, workers=1).subjects

    shipped = measure_shipped([*met, *prepare_subjects(worn, recipe)], recipe)

    assert shipped.known_people == 2
    assert "it learned from 2 of these people" in shipped.compare(shipped.metrics)[0]


@pytest.mark.parametrize(
    ("error", "unbeaten"), [(0.48, True), (0.05, True), (float("nan"), True), (0.049, False)]
)
def test_a_model_that_is_not_better_is_advised_against(error: float, unbeaten: bool) -> None:
    metrics = {"own_people": 6.0, "own_equal_error_5": 0.05, "own_equal_error_5_low": 0.04}
    shipped = ShippedErrors(model="default", metrics=metrics, known_people=0)

    sentences = shipped.find_unbeaten({"own_equal_error_5": error})

    assert bool(sentences) is unbeaten
    assert all("use the shipped one" in sentence for sentence in sentences)
