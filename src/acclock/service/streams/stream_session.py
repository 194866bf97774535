"""A session that listens to one stream: whether it is the user, and still is."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from acclock.acquisition.live import LiveClock
from acclock.live.chunks import Break, Chunk
from acclock.live.grants import Grant
from acclock.live.session import Session
from acclock.live.session_state import SessionState, name_changes
from acclock.live.stream_analyzer import ChunkContexts, PendingWindow, PreparedChunk
from acclock.pipeline import PreparedWindow
from acclock.service.streams.listener import EmbeddingRequest, Message, StreamPart, even_out
from acclock.service.streams.snapshots import SessionSnapshot
from acclock.values import FloatArray

_LIVELIER = 4.0
"""Another axis is shown only when it has so many times the power of the one that is."""
_FOLLOWED_S = 2.0
"""Over which it is learned how lively the axes are, and where they rest."""


class StreamTrace:
    """Gathers samples until the window is prepared that they end, so that both lie side by side.

    Every sample is told once and in order, however short the parts are in which they come.
    """

    def __init__(self, rate_hz: float) -> None:
        self._rate_hz = rate_hz
        self._axis = 0
        self._powers: FloatArray | None = None
        self._rest = np.zeros(3)
        self._raw = np.empty(0)
        self._wearing, self._count, self._prepared = 0, 0, False
        self._stale = 0
        """How many of the samples that wait are of a wearing that has ended."""

    def hear(self, samples: FloatArray, wearing: int, *, seen: bool) -> None:
        """Take even samples ``(3, n)``, before they are prepared; keep them if anybody looks."""
        if wearing != self._wearing:
            self._wearing, self._count, self._prepared = wearing, 0, False
            self._stale = self._raw.size
        self._count += samples.shape[1]
        if seen:
            self._raw = np.concatenate([self._raw, self._look(samples)])
        else:
            self._raw, self._stale = np.empty(0), 0

    def show(self, windows: Sequence[PreparedWindow]) -> Message | None:
        """Give what is new, with the windows that the last samples completed, if any."""
        if self._prepared and not windows:
            return None  # they will be told with their window
        ahead = self._count - round(windows[-1].end_s * self._rate_hz) if windows else 0
        size = self._raw.size - ahead
        self._prepared = bool(windows)
        if size <= 0:
            return None
        told, self._raw = self._raw[:size], self._raw[size:]
        known = size - min(self._stale, size)
        self._stale -= size - known
        clean = None
        if windows:
            newest = windows[-1].samples[self._axis, -known:] if known else np.empty(0)
            clean = [None] * (size - newest.size) + newest.round(4).tolist()
        return {
            "type": "trace",
            "rate_hz": self._rate_hz,
            "raw": told.round(4).tolist(),
            "clean": clean,
        }

    def _look(self, samples: FloatArray) -> FloatArray:
        """Give the liveliest axis around where it rests; it drifts there and does not jump."""
        means, powers = samples.mean(axis=1), samples.var(axis=1)
        if self._powers is None:
            self._powers, self._rest, self._axis = powers, means, int(powers.argmax())
        count = samples.shape[1]
        share = min(1.0, count / (_FOLLOWED_S * self._rate_hz))
        self._powers = self._powers + share * (powers - self._powers)
        if self._powers.max() > _LIVELIER * self._powers[self._axis]:
            self._axis = int(self._powers.argmax())
        before, self._rest = self._rest, self._rest + share * (means - self._rest)
        drift = np.linspace(before[self._axis], self._rest[self._axis], count, endpoint=False)
        return np.asarray(samples[self._axis] - drift)


_LOOKED_S = 15.0
"""For how long a look lasts."""

OnDecision = Callable[[SessionSnapshot, list[Message]], None]


@dataclass(slots=True, kw_only=True, eq=False)
class StreamSession:
    """Feeds a session, and turns how it stands into messages."""

    stream: str
    session: Session
    clock: LiveClock
    embed: Callable[[FloatArray], FloatArray]
    """Of the model that made the person's template."""
    rate_hz: float
    snapshot: SessionSnapshot
    hear: OnDecision
    """Is told, on the event loop, how the session stands and what is new."""
    traced: bool = False
    """Whether the client wants to see its samples."""
    looked_s: float = -math.inf
    """When somebody else last looked at them."""
    news: list[Message]
    _begun: bool = False
    _session_state: SessionState | None = None
    _received_s: float = 0.0
    _tracing: StreamTrace = field(init=False)

    def __post_init__(self) -> None:
        self._tracing = StreamTrace(self.rate_hz)

    def take(self, piece: Chunk | Break) -> list[StreamPart]:
        self._received_s = piece.received_s
        if isinstance(piece, Chunk):
            return even_out(self.clock, piece, rate_hz=self.rate_hz)
        self.clock.finish()
        self._note(self.session.break_off(piece.reason, piece.received_s))
        return []

    def collect(self, part: StreamPart) -> ChunkContexts | None:
        if part.restarted and self._begun:
            self._note(self.session.break_off("stall", self._received_s))
        self._begun = True
        self._tracing.hear(part.samples, self.session.wearing_number, seen=self._is_seen())
        return self.session.collect(part.samples, part.received, self._received_s)

    def conclude(self, gathered: ChunkContexts, seen: PreparedChunk) -> list[EmbeddingRequest]:
        pending_windows = self.session.conclude(gathered, seen, self._received_s)
        if not pending_windows:  # otherwise the answers tell
            self._note(self.session.session_state)
        if self._is_seen() and (trace := self._tracing.show(seen.windows)) is not None:
            self.news.append(trace)
        return [self._request_embedding(pending_window) for pending_window in pending_windows]

    def tick(self, now_s: float) -> None:
        self._note(self.session.tick(now_s))

    def lock(self, now_s: float) -> None:
        self.clock.finish()
        self._note(self.session.break_off("stall", now_s))

    def grant(self, duration_s: float) -> None:
        """Let another factor open the session."""
        now_s = time.monotonic()
        grant = Grant(person=self.session.person, expires_s=now_s + duration_s)
        self._note(self.session.grant(grant, now_s))

    def forget(self) -> None:
        """Hear that the person was deleted."""
        self._note(self.session.forget(time.monotonic()))
        self.news.append({"type": "forgotten"})

    def notify(self, news: list[Message]) -> None:
        self.hear(self.snapshot, news)

    def _request_embedding(self, pending_window: PendingWindow) -> EmbeddingRequest:
        return EmbeddingRequest(
            samples=pending_window.samples,
            embed=self.embed,
            received_s=self._received_s,  # the session may since have heard of a later time
            answer=partial(self._decide, pending_window, self._received_s),
        )

    def _decide(
        self, pending_window: PendingWindow, received_s: float, embedding: FloatArray, now_s: float
    ) -> None:
        self._received_s = received_s
        self._note(self.session.hear(pending_window, embedding, now_s), asked=True)

    def _is_seen(self) -> bool:
        return self.traced or time.monotonic() - self.looked_s < _LOOKED_S

    def _note(self, session_state: SessionState, *, asked: bool = False) -> None:
        """Keep how the session stands; make a message of each window, and where there is news."""
        before, self._session_state = self._session_state, session_state
        self.snapshot = self.snapshot.after(session_state, at=time.time())
        if before is None:
            return
        if (
            asked
            or before.answer is not session_state.answer
            or before.state != session_state.state
        ):
            self.news.append({"type": "decision", "heard_s": self._received_s})
        changes = name_changes(before, session_state)
        self.news += [{"type": "change", "kind": kind} for kind in changes]
