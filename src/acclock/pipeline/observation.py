"""What a recording says about its wearer: embeddings, and which windows are no good."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from acclock.denoising.quality import WindowQuality
from acclock.embedding.card import Card
from acclock.matching.verdict import WindowFault
from acclock.pipeline import Preparation, prepare
from acclock.values import FloatArray, Recording


class WindowEmbedder(Protocol):
    """What turns windows into embeddings, as :class:`acclock.embedding.embedder.Embedder` does."""

    card: Card

    def embed(self, windows: FloatArray) -> FloatArray: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordingObservation:
    """The windows of one recording after the first seconds, in which the filters settle."""

    embeddings: FloatArray
    """One row per window; NaN where the model made nothing of it."""
    faults: tuple[WindowFault | None, ...]

    @property
    def good(self) -> FloatArray:
        """The embeddings of the windows without a fault."""
        return self.embeddings[[fault is None for fault in self.faults]]


def observe(
    recording: Recording, embedder: WindowEmbedder, *, step_s: float | None = None
) -> RecordingObservation:
    """Prepare the windows of a recording as the model wants them, and embed them.

    Windows do not overlap unless ``step_s`` says so.
    """
    card = embedder.card
    card.require(rate_hz=recording.rate_hz)
    card.require_sampled(recording.native_rate_hz)
    preparation = Preparation.of(card)
    step_s = preparation.config.window_s if step_s is None else step_s
    windows = prepare(recording, preparation, step_s=step_s)
    settled = [window for window in windows if window.quality.disturbance != "warm-up"]
    if not settled:
        return RecordingObservation(embeddings=np.empty((0, card.embedding_width)), faults=())
    samples = np.stack([window.samples[: card.axes] for window in settled])
    embeddings = embedder.embed(samples)
    unusable = np.isnan(embeddings[:, 0])
    return RecordingObservation(
        embeddings=embeddings,
        faults=tuple(
            find_fault(window.quality) or (WindowFault.ABSENCE if lost else None)
            for window, lost in zip(settled, unusable, strict=True)
        ),
    )


def find_fault(quality: WindowQuality) -> WindowFault | None:
    """Say what makes a window useless for telling people apart, if anything does.

    An event, a blink or a word, is no fault: stage 2 has dealt with it.
    """
    if quality.disturbance in ("none", "event"):
        return None
    return WindowFault(quality.disturbance)
