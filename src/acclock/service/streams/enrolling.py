"""An enrollment that listens to one stream, and coaches whoever is being enrolled."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from acclock.acquisition.live import LiveClock
from acclock.live.chunks import Break, Chunk
from acclock.live.stream_analyzer import ChunkContexts, PreparedChunk
from acclock.matching.coaching import Enrollment, push, report
from acclock.matching.verdict import WindowFault
from acclock.models.catalog import LoadedModel
from acclock.pipeline import Preparation, PreparedWindow, StreamingDenoiser
from acclock.pipeline.observation import find_fault
from acclock.service.streams.listener import EmbeddingRequest, Message, StreamPart, even_out
from acclock.values import FloatArray


@dataclass(slots=True, kw_only=True, eq=False)
class StreamEnrollment:
    """Gathers good windows; they leave only as a template, when whoever asked says so."""

    stream: str
    model: LoadedModel
    clock: LiveClock
    hear: Callable[[list[Message]], None]
    enrollment: Enrollment = field(default_factory=Enrollment)
    news: list[Message] = field(default_factory=list)
    _denoiser: StreamingDenoiser | None = None
    _received_s: float = 0.0
    _preparation: Preparation = field(init=False)

    def __post_init__(self) -> None:
        self._preparation = self.model.preparation

    def take(self, piece: Chunk | Break) -> list[StreamPart]:
        self._received_s = piece.received_s
        if isinstance(piece, Chunk):
            return even_out(self.clock, piece, rate_hz=self._preparation.rate_hz)
        self.clock.finish()
        self._denoiser = None
        return []

    def collect(self, part: StreamPart) -> ChunkContexts:
        if part.restarted or self._denoiser is None:
            self._denoiser = StreamingDenoiser(
                self._preparation, step_s=self._preparation.config.window_s
            )
        return ChunkContexts(contexts=self._denoiser.gather(part.samples, part.received))

    def conclude(self, gathered: ChunkContexts, seen: PreparedChunk) -> list[EmbeddingRequest]:  # noqa: ARG002
        looked = (self._check_window(window, self._received_s) for window in seen.windows)
        return [asked for asked in looked if asked is not None]

    def tick(self, now_s: float) -> None:
        """Time alone teaches nothing about anybody."""

    def lock(self, now_s: float) -> None:  # noqa: ARG002 - it holds for every time
        """Begin anew: what came before may lie too long ago."""
        self.clock.finish()
        self._denoiser = None

    def notify(self, news: list[Message]) -> None:
        self.hear(news)

    def _check_window(self, window: PreparedWindow, received_s: float) -> EmbeddingRequest | None:
        fault = find_fault(window.quality)
        if fault is WindowFault.WARM_UP:
            self._report(fault.advice)
        elif fault is not None:
            self.enrollment = push(self.enrollment, None, fault=fault)
            self._report()
        else:
            return EmbeddingRequest(
                samples=window.samples,
                embed=self.model.embed,
                received_s=received_s,
                answer=self._add_embedding,
            )
        return None

    def _add_embedding(self, embedding: FloatArray, _: float) -> None:
        if np.isfinite(embedding).all():
            self.enrollment = push(self.enrollment, embedding)
        else:
            self.enrollment = push(self.enrollment, None, fault=WindowFault.ABSENCE)
        self._report()

    def _report(self, advice: str | None = None) -> None:
        progress = report(self.enrollment, cohort=self.model.cohort)
        self.news.append(
            {
                "type": "progress",
                "good": progress.good,
                "needed": progress.needed,
                "least": progress.least,
                "advice": advice or progress.advice,
                "refusal": progress.refusal,
                "complete": progress.complete,
                "may_end": progress.may_end,
            }
        )
