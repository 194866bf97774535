"""What a batch teaches in each of the two stages, and which weights learn from it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from acclock.embedding.networks.hidnet import ramp
from acclock.embedding.networks.registry import find_design
from acclock.embedding.networks.siamese import EmbeddingModel, level
from acclock.training.batches import Batch
from acclock.training.losses import drop_ablated, find_violating, total_loss, triplet_loss
from acclock.training.recipe import Recipe, Stage


class Lesson(Protocol):
    """A batch in, what is to be made small out; ``progress`` is the share of the stage done."""

    def __call__(self, model: EmbeddingModel, batch: Batch, *, progress: float) -> Tensor: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StagePlan:
    """One stage, ready to be gone through."""

    name: str
    stage: Stage
    learns: Callable[[EmbeddingModel], nn.Module]
    """The part of the model whose weights change."""
    teach: Lesson | None = None
    """Without a lesson the stage is done in closed form, at once."""


def plan_lessons(recipe: Recipe) -> list[StagePlan]:
    """Give the stages of a recipe: first the network, then the embedding if there is one.

    Paper: Sec. 7.1.1.
    """
    design = find_design(recipe.network)
    plans = []
    if design.taught:
        lesson = _make_network_lesson(recipe)
        plans.append(
            StagePlan(name="network", stage=recipe.network_stage, learns=_network_of, teach=lesson)
        )
    if design.head != "none":
        triplets = make_embedding_lesson(recipe.triplets.margin)
        teach = triplets if design.head == "siamese" else None
        plans.append(
            StagePlan(name="embedding", stage=recipe.embedding_stage, learns=_head_of, teach=teach)
        )
    return plans


def make_embedding_lesson(margin: float) -> Lesson:
    """Give the lesson of triplets: someone's windows together, somebody else's apart."""

    def teach(model: EmbeddingModel, batch: Batch, *, progress: float) -> Tensor:  # noqa: ARG001
        embeddings = model(batch.windows)
        triplets = find_violating(embeddings, batch.people, margin=margin)
        return triplet_loss(embeddings, triplets, margin=margin)

    return teach


def _make_network_lesson(recipe: Recipe) -> Lesson:
    weights = drop_ablated(recipe.losses, find_design(recipe.network))

    def teach(model: EmbeddingModel, batch: Batch, *, progress: float) -> Tensor:
        windows = level(batch.windows)
        outputs = model.network.outputs(windows, reversal=ramp(progress))
        return total_loss(outputs, windows=windows, people=batch.people, config=weights).total

    return teach


def _network_of(model: EmbeddingModel) -> nn.Module:
    return model.network


def _head_of(model: EmbeddingModel) -> nn.Module:
    return model.head if model.head is not None else model.network


def descend(
    optimizer: torch.optim.Optimizer, loss: Tensor, parameters: list[nn.Parameter], longest: float
) -> float:
    """Take one step downhill, with the gradient cut back to a length; give the loss."""
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, longest)
    optimizer.step()
    return float(loss.detach())
