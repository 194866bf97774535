"""A small training that really learns, can be interrupted, and tells the same story twice."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from acclock.errors import ModelError
from acclock.pipeline import prepare_contexts
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.augmentation import Augmentation
from acclock.training.batches import cut_context
from acclock.training.checkpoint import Checkpoint
from acclock.training.grid import Grid, bring_to
from acclock.training.judging import judge_model, try_all
from acclock.training.recipe import Recipe, Stage, find_recipe
from acclock.training.run import Run
from acclock.training.subjects import Subject, SubjectSession
from acclock.values import Recording

RATE_HZ = 50.0
RECIPE = Recipe(
    network="cnn",
    sizes={"channels": 16},
    embedding_width=32,
    preparation="bandpass",
    rate_hz=RATE_HZ,
    axes=3,
    windows_per_person=16,
    network_stage=Stage(epochs=12, learning_rate=3e-3, halved_every=4, weight_decay=0.01),
    embedding_stage=Stage(epochs=2, learning_rate=1e-3, batch=128),
)
SMALL = replace(
    RECIPE,
    offsets="random",
    augmentation=Augmentation(),
    windows_per_person=4,
    network_stage=Stage(epochs=2, learning_rate=1e-3, batch=8),
    embedding_stage=Stage(epochs=2, learning_rate=1e-3, batch=8),
)


def lay_clean_grid(recording: Recording, recipe: Recipe) -> Grid:
    """Lay the grid of a recording that is known to be clean, without judging its windows."""
    config = recipe.prepared.config
    ends = np.arange(2 * config.window_length, len(recording) + 1, config.window_length)
    cuts = [cut_context(recording, int(end), config.context_length) for end in ends]
    contexts, received = (np.stack(parts) for parts in zip(*cuts, strict=True))
    windows = prepare_contexts(contexts, received, recipe.prepared)
    return Grid(windows=windows.astype(np.float32), ends=ends)


def draw_subject(index: int, recipe: Recipe = RECIPE) -> Subject:
    worn = (
        simulate(draw_person(index), Scene(duration_s=60.0, session=session)).recording
        for session in range(2)
    )
    recordings = [bring_to(recording, recipe.rate_hz) for recording in worn]
    return Subject(
        name=f"simulated/{index}",
        source="simulated",
        sessions=tuple(
            SubjectSession(recording=recording, grid=lay_clean_grid(recording, recipe))
            for recording in recordings
        ),
    )


@pytest.fixture(scope="module")
def crowd() -> list[Subject]:
    return [draw_subject(index) for index in range(34)]


@pytest.fixture(scope="module")
def learned(crowd: list[Subject]) -> list[Subject]:
    return crowd[:24]


@pytest.fixture(scope="module")
def unseen(crowd: list[Subject]) -> list[Subject]:
    return crowd[24:]


def finish(run: Run) -> Run:
    while not run.finished:
        run.advance()
    return run


def shuffle_labels(subjects: Sequence[Subject]) -> list[Subject]:
    """Give every window to anybody, and keep how many each has."""
    sessions = [session for subject in subjects for session in subject.sessions]
    windows = np.concatenate([session.grid.windows for session in sessions])
    mixed = windows[np.random.default_rng(1).permutation(len(windows))]
    parts = iter(np.split(mixed, np.cumsum([len(session.grid) for session in sessions])[:-1]))
    return [
        replace(
            subject,
            sessions=tuple(
                replace(session, grid=replace(session.grid, windows=next(parts)))
                for session in subject.sessions
            ),
        )
        for subject in subjects
    ]


def test_training_teaches_to_tell_unseen_people_apart_and_false_labels_do_not(
    learned: list[Subject], unseen: list[Subject]
) -> None:
    taught = finish(Run(RECIPE, learned))
    misled = finish(Run(RECIPE, shuffle_labels(learned)))

    error, error_misled = (
        judge_model(try_all(run.model, unseen, axes=3)) for run in (taught, misled)
    )

    assert error < 0.20
    assert error_misled > 0.25


def weights_of(run: Run) -> dict[str, torch.Tensor]:
    return run.model.state_dict()


@pytest.mark.parametrize("after", [1, 2, 3])
def test_going_on_after_a_stop_gives_the_weights_of_an_unbroken_run(
    crowd: list[Subject], after: int
) -> None:
    unbroken = finish(Run(SMALL, crowd[:4]))
    stopped = Run(SMALL, crowd[:4])
    for _ in range(after):
        stopped.advance()
    packed = stopped.put_aside().to_bytes()

    resumed = Run(SMALL, crowd[:4])
    resumed.take_up(Checkpoint.from_bytes(packed))
    finish(resumed)

    assert resumed.reports == unbroken.reports
    for name, weights in weights_of(unbroken).items():
        assert torch.equal(weights, weights_of(resumed)[name]), name


def test_another_seed_is_another_model(crowd: list[Subject]) -> None:
    one, other = (finish(Run(replace(SMALL, seed=seed), crowd[:4])) for seed in (1, 2))

    assert any(
        not torch.equal(weights, weights_of(other)[name])
        for name, weights in weights_of(one).items()
    )


def test_the_second_stage_leaves_the_network_alone(crowd: list[Subject]) -> None:
    run = Run(SMALL, crowd[:4])
    run.advance()
    run.advance()
    before = {name: weights.clone() for name, weights in weights_of(run).items()}
    run.advance()

    for name, weights in weights_of(run).items():
        assert torch.equal(weights, before[name]) == name.startswith("network."), name


def test_the_best_epoch_is_kept(crowd: list[Subject]) -> None:
    run = finish(Run(SMALL, crowd[:4], crowd[4:8]))

    errors = [report.error for report in run.reports if report.stage == "embedding"]
    kept = judge_model(try_all(run.model, crowd[4:8], axes=3))

    assert kept == min(error for error in errors if error is not None)


def test_without_a_choice_the_last_epoch_is_kept_and_nobody_judges(crowd: list[Subject]) -> None:
    run = finish(Run(replace(SMALL, keep="last"), crowd[:4], crowd[4:8]))

    assert all(report.error is None for report in run.reports)
    assert run.best_epochs() == {"network": 2, "embedding": 2}


def test_views_need_no_more_than_a_head_to_tell_unseen_people_apart(
    learned: list[Subject], unseen: list[Subject]
) -> None:
    recipe = replace(
        find_recipe("views"), rate_hz=RATE_HZ, embedding_width=128, windows_per_person=16
    )

    run = finish(Run(recipe, learned, unseen))

    assert [report.stage for report in run.reports] == ["embedding"]
    assert judge_model(try_all(run.model, unseen, axes=3)) < 0.05


@pytest.mark.parametrize("rate_hz", [100.0, 75.0, 50.0, 25.0])
@pytest.mark.parametrize("network", ["hidnet", "v5", "cnn", "views", "two-branch"])
def test_every_rate_trains_by_the_same_lines(rate_hz: float, network: str) -> None:
    recipe = replace(SMALL, rate_hz=rate_hz, network=network, sizes={})
    recipe = replace(recipe, network_stage=replace(recipe.network_stage, epochs=1))
    subjects = [draw_subject(index, recipe) for index in range(2)]

    report = Run(recipe, subjects).advance()

    assert np.isfinite(report.loss)


def test_the_loss_of_hidnet_stays_bounded(crowd: list[Subject]) -> None:
    stage = Stage(epochs=6, learning_rate=2e-3)
    recipe = replace(RECIPE, network="hidnet", sizes={}, network_stage=stage)
    run = Run(recipe, crowd[:6])

    losses = [run.advance().loss for _ in range(6)]

    assert max(losses) < 10.0
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("packed", [b"", b"x" * 100, b"\x10\0\0\0\0\0\0\0{}"])
def test_a_damaged_checkpoint_is_refused_in_a_sentence(packed: bytes) -> None:
    with pytest.raises(ModelError, match="checkpoint"):
        Checkpoint.from_bytes(packed)
