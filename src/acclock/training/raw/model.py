"""A model with everything in front of it that it needs to read raw acceleration."""

import torch
from torch import Tensor, nn

from acclock.embedding.card import Card
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.pipeline import Preparation
from acclock.training.raw.preparations import make_preparation
from acclock.training.raw.quality import Quality


class RawModel(nn.Module):
    """Raw contexts ``(batch, 3, n)`` in m/s² in; embeddings, qualities and references out.

    Ours (docs/decisions/0023). A context has no holes: short gaps are bridged by a line before
    it comes here. ``references`` are what the contexts before left behind, zero where a stream
    begins; the band-pass takes and gives none.
    """

    def __init__(self, model: EmbeddingModel, card: Card) -> None:
        super().__init__()
        preparation = Preparation.of(card)
        self.axes, self.context = card.axes, preparation.config.context_length
        self.prepare = make_preparation(preparation)
        self.judge = Quality(preparation.config)
        self.model = model

    def forward(self, contexts: Tensor, references: Tensor | None = None) -> tuple[Tensor, ...]:
        windows, left = self.prepare(contexts, references)
        told = self.model(windows[:, : self.axes]), self.judge(contexts)
        return told if left is None else (*told, left)

    def make_example(self, *, batch: int) -> tuple[Tensor, ...]:
        """Give contexts, with references if there are any, of the shapes that are read here."""
        contexts = torch.randn(batch, 3, self.context, generator=torch.Generator().manual_seed(0))
        width = self.prepare.width
        return (contexts, torch.zeros(batch, 3, width)) if width else (contexts,)
