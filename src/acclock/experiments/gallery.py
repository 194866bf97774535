"""Everybody's windows as embeddings, in one matrix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from acclock.embedding.card import Card
from acclock.errors import SignalError
from acclock.experiments.participants import Participant
from acclock.pipeline import Preparation, prepare
from acclock.pipeline.observation import find_fault
from acclock.values import FloatArray, Recording

Indices = NDArray[np.intp]


class FingerprintedEmbedder(Protocol):
    """Whatever turns windows into embeddings; :class:`acclock.embedding.embedder.Embedder` does."""

    card: Card
    fingerprint: str

    def embed(self, windows: NDArray[np.floating[Any]]) -> FloatArray:
        """Give a unit row for every window, or NaN for one that cannot be used."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gallery:
    """Windows in the order in which they were worn: person by person, recording by recording."""

    embeddings: FloatArray
    """One row per window."""
    wearers: Indices
    """Whose window it is, as a number. Never falls."""
    recordings: Indices
    """In which recording it lies, numbered through from the first person's. Never falls."""
    turned_away: int = 0
    """How many windows had a fault and are not here."""

    def __post_init__(self) -> None:
        for numbers in (self.wearers, self.recordings):
            if numbers.shape != self.embeddings.shape[:1] or (np.diff(numbers) < 0).any():
                raise SignalError("the windows of a gallery lie in order, each with its numbers")

    def __len__(self) -> int:
        return len(self.embeddings)

    @property
    def people(self) -> int:
        return int(self.wearers[-1]) + 1 if len(self) else 0


def embed_all(
    participants: Sequence[Participant], embedder: FingerprintedEmbedder, *, gated: bool = False
) -> Gallery:
    """Prepare everybody's windows end to end as the live stream does, and embed each once.

    All windows count, whatever their quality: weak recordings stay in, unless they are ``gated``.
    """
    places = [(who, one) for who, person in enumerate(participants) for one in person.recordings]
    parts = [_embed(recording, embedder, gated=gated) for _, recording in places]
    counts = [len(embeddings) for embeddings, _ in parts]
    return Gallery(
        embeddings=np.concatenate([embeddings for embeddings, _ in parts]),
        wearers=np.repeat([who for who, _ in places], counts),
        recordings=np.repeat(np.arange(len(places)), counts),
        turned_away=sum(refused for _, refused in parts),
    )


def _embed(
    recording: Recording, embedder: FingerprintedEmbedder, *, gated: bool
) -> tuple[FloatArray, int]:
    """Give the embeddings of a recording, and how many windows were turned away."""
    card = embedder.card
    preparation = Preparation.of(card)
    prepared = prepare(recording, preparation, step_s=preparation.config.window_s)
    kept = [one for one in prepared if not (gated and find_fault(one.quality))]
    if not kept:
        return np.empty((0, card.embedding_width)), len(prepared)
    windows = np.stack([one.samples[: card.axes] for one in kept])
    return embedder.embed(windows), len(prepared) - len(kept)
