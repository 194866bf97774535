"""An enrollment that listens to one stream, and coaches whoever is being enrolled."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from acclock.acquisition.live import LiveClock
from acclock.matching.coaching import Enrollment, push, report
from acclock.matching.fault import Fault
from acclock.pipeline import Preparation, PreparedWindow, StreamingDenoiser
from acclock.session.chunks import Break, Chunk
from acclock.session.ear import Overheard, Seen
from acclock.values import FloatArray
from acclock.world.models.catalog import LoadedModel
from acclock.world.service.listeners import Asked, Message
from acclock.world.service.pieces import Part, even_out
from acclock.world.wearing import find_fault


@dataclass(slots=True, kw_only=True, eq=False)
class Enrolling:
    """Gathers good windows; they leave only as a template, when whoever asked says so."""

    stream: str
    model: LoadedModel
    clock: LiveClock
    hear: Callable[[list[Message]], None]
    enrollment: Enrollment = field(default_factory=Enrollment)
    news: list[Message] = field(default_factory=list)
    _denoiser: StreamingDenoiser | None = None
    _heard_s: float = 0.0
    _preparation: Preparation = field(init=False)

    def __post_init__(self) -> None:
        self._preparation = self.model.preparation

    def take(self, piece: Chunk | Break) -> list[Part]:
        self._heard_s = piece.heard_s
        if isinstance(piece, Chunk):
            return even_out(self.clock, piece, rate_hz=self._preparation.rate_hz)
        self.clock.finish()
        self._denoiser = None
        return []

    def overhear(self, part: Part) -> Overheard:
        if part.restarted or self._denoiser is None:
            self._denoiser = StreamingDenoiser(
                self._preparation, step_s=self._preparation.config.window_s
            )
        return Overheard(contexts=self._denoiser.gather(part.samples, part.received))

    def understand(self, overheard: Overheard, seen: Seen) -> list[Asked]:  # noqa: ARG002
        looked = (self._look(window, self._heard_s) for window in seen.windows)
        return [asked for asked in looked if asked is not None]

    def tick(self, now_s: float) -> None:
        """Time alone teaches nothing about anybody."""

    def lock(self, now_s: float) -> None:  # noqa: ARG002 - it holds for every time
        """Begin anew: what came before may lie too long ago."""
        self.clock.finish()
        self._denoiser = None

    def tell(self, news: list[Message]) -> None:
        self.hear(news)

    def _look(self, window: PreparedWindow, heard_s: float) -> Asked | None:
        fault = find_fault(window.quality)
        if fault is Fault.WARM_UP:
            self._report(fault.advice)
        elif fault is not None:
            self.enrollment = push(self.enrollment, None, fault=fault)
            self._report()
        else:
            return Asked(
                samples=window.samples,
                embed=self.model.embed,
                heard_s=heard_s,
                answer=self._hear,
            )
        return None

    def _hear(self, embedding: FloatArray, _: float) -> None:
        if np.isfinite(embedding).all():
            self.enrollment = push(self.enrollment, embedding)
        else:
            self.enrollment = push(self.enrollment, None, fault=Fault.ABSENCE)
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
