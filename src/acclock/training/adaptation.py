"""A trained model, taught another device by a few people who wear it."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from acclock.embedding.card import Card
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.pipeline import Preparation
from acclock.training import lora
from acclock.training.adapted import Adapted, make_room, sign
from acclock.training.augmentation import Augmentation
from acclock.training.checkpoint import Report
from acclock.training.drawing import draw_batches
from acclock.training.judging import judge_model, try_all
from acclock.training.lessons import descend, make_embedding_lesson
from acclock.training.lora import LoraConfig
from acclock.training.recipe import Recipe, Stage
from acclock.training.subjects import Subject
from acclock.training.triplets import TripletConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptConfig:
    """How a model is adapted. Only the epochs are the paper's (docs/decisions/0020)."""

    stage: Stage = field(default_factory=lambda: Stage(epochs=20, learning_rate=1e-3, batch=128))
    lora: LoraConfig = field(default_factory=LoraConfig)
    triplets: TripletConfig = field(default_factory=TripletConfig)
    augmentation: Augmentation = field(default_factory=Augmentation)
    windows_per_person: int = 32
    longest_gradient: float = 1.0
    seed: int = 0


def adapt_model(
    model: EmbeddingModel,
    card: Card,
    learned: Sequence[Subject],
    judges: Sequence[Subject],
    *,
    config: AdaptConfig,
    on_report: Callable[[Report], object] = lambda _: None,
) -> Adapted:
    """Teach a copy of a model the windows of other people, by low-rank changes alone.

    Paper: Sec. 7.5: the backbone is frozen, triplets are told apart, twenty epochs. The epoch is
    chosen by people who are not learned from.
    """
    recipe = recipe_of(card, config)
    pupil = deepcopy(model).eval()
    before = judge_model(try_all(pupil, judges, axes=card.axes))
    parameters = lora.adapt(pupil, config.lora, seed=config.seed)
    optimizer = torch.optim.Adam(parameters, lr=config.stage.learning_rate)
    best, best_error, best_epoch = _copy(parameters), before, 0
    for epoch in range(config.stage.epochs):
        loss = _learn(pupil, optimizer, parameters, learned, recipe, epoch, config)
        error = judge_model(try_all(pupil, judges, axes=card.axes))
        if error < best_error:
            best, best_error, best_epoch = _copy(parameters), error, epoch + 1
        on_report(
            Report(
                stage="adaptation",
                epoch=epoch,
                epochs=config.stage.epochs,
                loss=loss,
                error=error,
            )
        )
    _restore(parameters, best)
    lora.merge(pupil)
    return Adapted(
        model=make_room(pupil, len(learned)),
        card=sign(card, learned, before, best_error),
        error_before=before,
        error_after=best_error,
        best_epoch=best_epoch,
    )


def recipe_of(card: Card, config: AdaptConfig) -> Recipe:
    """Give the recipe that draws windows as the model was trained on."""
    return Recipe(
        network=card.network,
        sizes=card.config,
        embedding_width=card.embedding_width,
        preparation=Preparation.of(card).name,
        rate_hz=card.rate_hz,
        axes=card.axes,
        offsets="random",
        windows_per_person=config.windows_per_person,
        augmentation=config.augmentation,
    )


def _copy(parameters: list[nn.Parameter]) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in parameters]


def _restore(parameters: list[nn.Parameter], values: list[torch.Tensor]) -> None:
    with torch.no_grad():
        for parameter, value in zip(parameters, values, strict=True):
            parameter.copy_(value)


def _learn(  # noqa: PLR0913 - an epoch needs all of it
    pupil: EmbeddingModel,
    optimizer: torch.optim.Optimizer,
    parameters: list[nn.Parameter],
    learned: Sequence[Subject],
    recipe: Recipe,
    epoch: int,
    config: AdaptConfig,
) -> float:
    teach = make_embedding_lesson(config.triplets.margin)
    for group in optimizer.param_groups:
        group["lr"] = config.stage.rate_at(epoch)
    chance = np.random.default_rng([config.seed, epoch])
    batches = draw_batches(learned, recipe, batch=config.stage.batch, chance=chance)
    losses = [
        descend(
            optimizer,
            teach(pupil, batch, progress=epoch / config.stage.epochs),
            parameters,
            config.longest_gradient,
        )
        for batch in batches
    ]
    return float(np.mean(losses))
