"""A model after its adaptation, and what its card then says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import nn

from acclock.embedding.card import Card, hash_person
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.training.subjects import Subject


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Adapted:
    """The model with the changes merged, and what they did for people it did not learn from."""

    model: EmbeddingModel
    card: Card
    error_before: float
    error_after: float
    best_epoch: int
    """Zero when no epoch was better than the model as it came."""


def make_room(model: EmbeddingModel, count: int) -> EmbeddingModel:
    """Let the classifiers know more people, none of whom they can name yet.

    They play no part in an embedding; but a model's file names as many people as its card.
    """
    for name in ("name_person", "betray_person"):
        if (old := getattr(model.network, name, None)) is not None:
            wider = nn.Linear(old.in_features, old.out_features + count)
            with torch.no_grad():
                wider.weight.zero_()[: old.out_features] = old.weight
                wider.bias.zero_()[: old.out_features] = old.bias
            setattr(model.network, name, wider)
    return model


def sign(card: Card, learned: Sequence[Subject], before: float, after: float) -> Card:
    """Give the card of a model after some people taught it their device."""
    sources = sorted({subject.source for subject in learned})
    return replace(
        card,
        name=f"{card.name}-adapted",
        training_data=(*card.training_data, *(f"adapted to {source}" for source in sources)),
        people=(*card.people, *(hash_person(subject.name) for subject in learned)),
        metrics={"equal_error_before_adaptation": before, "equal_error_after_adaptation": after},
    )
