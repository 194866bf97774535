"""Everybody's windows as embeddings, in one matrix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from acclock.embedding.card import Card
from acclock.errors import SignalError
from acclock.experiments.participants import Participant
from acclock.pipeline import Preparation, PreparationName, prepare
from acclock.values import FloatArray, Recording

Indices = NDArray[np.intp]


class Embeds(Protocol):
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

    def __post_init__(self) -> None:
        for numbers in (self.wearers, self.recordings):
            if numbers.shape != self.embeddings.shape[:1] or (np.diff(numbers) < 0).any():
                raise SignalError("the windows of a gallery lie in order, each with its numbers")

    def __len__(self) -> int:
        return len(self.embeddings)

    @property
    def people(self) -> int:
        return int(self.wearers[-1]) + 1 if len(self) else 0


def embed_all(participants: Sequence[Participant], embedder: Embeds) -> Gallery:
    """Prepare everybody's windows end to end as the live stream does, and embed each once.

    All windows count, whatever their quality: weak recordings stay in.
    """
    places = [(who, one) for who, person in enumerate(participants) for one in person.recordings]
    parts = [_embed(recording, embedder) for _, recording in places]
    counts = [len(part) for part in parts]
    return Gallery(
        embeddings=np.concatenate(parts),
        wearers=np.repeat([who for who, _ in places], counts),
        recordings=np.repeat(np.arange(len(places)), counts),
    )


def _embed(recording: Recording, embedder: Embeds) -> FloatArray:
    card = embedder.card
    name = cast("PreparationName", card.preparation)  # checked by Preparation itself
    preparation = Preparation(name=name, rate_hz=card.rate_hz)
    prepared = prepare(recording, preparation, step_s=preparation.config.window_s)
    return embedder.embed(np.stack([window.samples[: card.axes] for window in prepared]))
