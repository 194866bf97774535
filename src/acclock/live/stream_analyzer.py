"""Even samples in; out comes what can be said without asking whose heartbeat it is."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np

from acclock.denoising.quality import WindowQuality
from acclock.errors import SignalError
from acclock.live.answers import Reason, WindowAnswer, judge_fault, judge_motion, needs_embedding
from acclock.live.chunks import StreamPace, keep_pace
from acclock.live.evidence import WINDOW_S
from acclock.live.policies import Policy
from acclock.live.wear_detector import MotionFeatures, WearDetector, measure_motion
from acclock.pipeline import (
    Context,
    Preparation,
    PreparedWindow,
    StreamingDenoiser,
    prepare_together,
)
from acclock.values import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PendingWindow:
    """A prepared window, and when it was heard: an answer that comes late counts for nothing."""

    samples: FloatArray
    """What the encoder reads: ``(3, n)``."""
    quality: WindowQuality
    at_s: float
    wearing: int
    """In which wearing it was heard; what comes after the end of that one is not asked about it."""
    lively: bool
    """Whether there was motion on top of the heartbeat."""


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_MOST = 1e6
"""In m/s²: what is beyond is no acceleration, and its square may be no number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkResult:
    """What a chunk said, in the order in which it matters."""

    ended: Reason | None = None
    """Why the wearing is over, if it is."""
    shaken: bool = False
    """Whether it moved as it does in a hand."""
    unsettled: bool = False
    """Whether something began within the last two seconds that a hand may have done."""
    answers: tuple[WindowAnswer, ...] = ()
    """About windows that are no good for telling people apart."""
    pending_windows: tuple[PendingWindow, ...] = ()
    """About windows that are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChunkContexts:
    """What a chunk completed, not looked at yet: spans of the watch, contexts of windows."""

    wrong: Reason | None = None
    """What is wrong with its timing: then there is nothing to look at."""
    spans: Sequence[FloatArray] = ()
    contexts: Sequence[Context] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PreparedChunk:
    """What there was to see in it."""

    features: Sequence[MotionFeatures] = ()
    windows: Sequence[PreparedWindow] = ()


def prepare_chunks(gathered: Sequence[ChunkContexts]) -> list[PreparedChunk]:
    """Look at what many ears overheard, those of one preparation in one go and each as if alone."""
    spans = [span for one in gathered for span in one.spans]
    contexts = [context for one in gathered for context in one.contexts]
    features = iter(_in_groups(spans, lambda span: span.shape, measure_motion))
    windows = iter(_in_groups(contexts, lambda context: context.preparation, prepare_together))
    return [
        PreparedChunk(
            features=list(islice(features, len(one.spans))),
            windows=list(islice(windows, len(one.contexts))),
        )
        for one in gathered
    ]


def _in_groups(
    items: Sequence[_Item],
    kind_of: Callable[[_Item], Hashable],
    work: Callable[[Sequence[_Item]], list[_Result]],
) -> list[_Result]:
    """Work on the items of each kind in one go, and give the results in the order of the items."""
    kinds = [kind_of(item) for item in items]
    if len(set(kinds)) <= 1:  # nearly always
        return work(items)
    groups = {
        kind: iter(work([item for item, its in zip(items, kinds, strict=True) if its == kind]))
        for kind in dict.fromkeys(kinds)
    }
    return [next(groups[kind]) for kind in kinds]


class StreamAnalyzer:
    """Listens to one wearing. When that ends, another one is made."""

    def __init__(self, preparation: Preparation, policy: Policy, *, wearing: int = 0) -> None:
        self._rate_hz, self._policy = preparation.rate_hz, policy
        self.wearing = wearing
        """The number of the wearing."""
        self._pace: StreamPace | None = None
        self._detector = WearDetector(preparation.rate_hz)
        self._denoiser = StreamingDenoiser(preparation, step_s=policy.step_s)

    def listen(self, samples: FloatArray, received: BoolArray, now_s: float) -> ChunkResult:
        """Take even samples ``(3, n)`` and which of them arrived."""
        gathered = self.collect(samples, received, now_s)
        (seen,) = prepare_chunks([gathered])
        return self.conclude(gathered, seen, now_s)

    def collect(self, samples: FloatArray, received: BoolArray, now_s: float) -> ChunkContexts:
        """Take even samples and give what is to be looked at, with what others overhear."""
        if samples.ndim != 2 or samples.shape[0] != 3 or received.shape != samples.shape[1:]:
            raise SignalError(f"a session hears three axes in rows; these have {samples.shape}")
        even, arrived, sound = samples, received, np.abs(samples) < _MOST
        if not (received.all() and sound.all()):  # hardly ever
            arrived = received & sound.all(axis=0)
            even = np.where(arrived, samples, 0.0)
        self._pace, wrong = keep_pace(
            self._pace, arrived, rate_hz=self._rate_hz, now_s=now_s, stall_s=self._policy.stall_s
        )
        if wrong is not None:
            return ChunkContexts(wrong=wrong)
        return ChunkContexts(
            spans=self._detector.gather(even, arrived),
            contexts=self._denoiser.gather(even, arrived),
        )

    def conclude(self, gathered: ChunkContexts, seen: PreparedChunk, now_s: float) -> ChunkResult:
        """Say what was heard, once somebody has looked at it."""
        signs = self._detector.detect(seen.features)
        if gathered.wrong is not None or "removed" in signs:
            return ChunkResult(ended=gathered.wrong or Reason.REMOVED)
        if (lost := self._find_end(seen.windows)) is not None:
            return ChunkResult(ended=lost)
        unsettled = self._detector.unsettled
        good = [one for one in seen.windows if needs_embedding(one.quality) and not unsettled]
        return ChunkResult(
            shaken="handled" in signs,
            unsettled=unsettled,
            answers=tuple(_answer_without(one.quality) for one in seen.windows if one not in good),
            pending_windows=tuple(self._make_pending(window, now_s) for window in good),
        )

    def _find_end(self, windows: Sequence[PreparedWindow]) -> Reason | None:
        return next(filter(None, (self._judge_end(window.quality) for window in windows)), None)

    def _judge_end(self, quality: WindowQuality) -> Reason | None:
        if quality.disturbance == "warm-up":
            return None
        if quality.missing_share > self._policy.most_lost:
            return Reason.LOSS
        if needs_embedding(quality):
            return None
        answer = judge_fault(quality)
        return answer.reason if answer.decision == "no_signal" else None

    def _make_pending(self, window: PreparedWindow, now_s: float) -> PendingWindow:
        return PendingWindow(
            samples=window.samples,
            quality=window.quality,
            at_s=now_s,
            wearing=self.wearing,
            lively=self._detector.calm_s < WINDOW_S,
        )


def _answer_without(quality: WindowQuality) -> WindowAnswer:
    """Answer for a window about which nobody is asked; it may hold a hand."""
    return judge_motion(quality) if needs_embedding(quality) else judge_fault(quality)
