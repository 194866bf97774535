"""A session that listens to one stream: whether it is the user, and still is."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from acclock.acquisition.live import LiveClock
from acclock.session.chunks import Break, Chunk
from acclock.session.ear import Overheard, Seen
from acclock.session.grants import Grant
from acclock.session.questions import Question
from acclock.session.session import Session
from acclock.session.standing import Standing, name_changes
from acclock.values import FloatArray
from acclock.world.service.listeners import Asked, Message
from acclock.world.service.pieces import Part, even_out
from acclock.world.service.snapshots import Snapshot

_THINNED = 2
"""A trace is for the eye: every second sample will do."""

_LOOKED_S = 15.0
"""For how long a look lasts."""

Hear = Callable[[Snapshot, list[Message]], None]


@dataclass(slots=True, kw_only=True, eq=False)
class Watching:
    """Feeds a session, and turns how it stands into messages."""

    stream: str
    session: Session
    clock: LiveClock
    axes: int
    rate_hz: float
    snapshot: Snapshot
    hear: Hear
    """Is told, on the event loop, how the session stands and what is new."""
    traced: bool = False
    """Whether the client wants to see its samples."""
    looked_s: float = -math.inf
    """When somebody else last looked at them."""
    news: list[Message]
    _begun: bool = False
    _standing: Standing | None = None
    _raw: FloatArray | None = None
    _heard_s: float = 0.0

    def take(self, piece: Chunk | Break) -> list[Part]:
        self._heard_s = piece.heard_s
        if isinstance(piece, Chunk):
            return even_out(self.clock, piece, rate_hz=self.rate_hz)
        self.clock.finish()
        self._note(self.session.break_off(piece.reason, piece.heard_s))
        return []

    def overhear(self, part: Part) -> Overheard | None:
        if part.restarted and self._begun:
            self._note(self.session.break_off("stall", self._heard_s))
        self._begun, self._raw = True, part.samples
        return self.session.overhear(part.samples, part.received, self._heard_s)

    def understand(self, overheard: Overheard, seen: Seen) -> list[Asked]:
        questions = self.session.understand(overheard, seen, self._heard_s)
        self._note(self.session.standing)
        if self._is_seen() and not questions and self._raw is not None:
            self.news.append(_trace(self._raw, None, self.rate_hz))
        return [self._ask(question) for question in questions]

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

    def tell(self, news: list[Message]) -> None:
        self.hear(self.snapshot, news)

    def _ask(self, question: Question) -> Asked:
        return Asked(
            samples=question.samples[: self.axes],
            heard_s=self._heard_s,  # the session may since have heard of a later time
            answer=partial(self._hear, question, self._raw, self._heard_s),
        )

    def _hear(
        self,
        question: Question,
        raw: FloatArray | None,
        heard_s: float,
        embedding: FloatArray,
        now_s: float,
    ) -> None:
        self._heard_s = heard_s
        self._note(self.session.hear(question, embedding, now_s), asked=True)
        if self._is_seen() and raw is not None:
            self.news.append(_trace(raw, question.samples, self.rate_hz))

    def _is_seen(self) -> bool:
        return self.traced or time.monotonic() - self.looked_s < _LOOKED_S

    def _note(self, standing: Standing, *, asked: bool = False) -> None:
        """Keep how the session stands; make a message of each window, and where there is news."""
        before, self._standing = self._standing, standing
        self.snapshot = self.snapshot.after(standing, at=time.time())
        if before is None:
            return
        if asked or before.answer is not standing.answer or before.state != standing.state:
            self.news.append({"type": "decision", "heard_s": self._heard_s})
        changes = name_changes(before, standing)
        self.news += [{"type": "change", "kind": kind} for kind in changes]


def _trace(raw: FloatArray, clean: FloatArray | None, rate_hz: float) -> Message:
    """Give the newest samples of the liveliest axis, before and after the preparation."""
    axis = int(np.argmax(raw.std(axis=1)))
    centered = raw[axis] - raw[axis].mean()
    shown = None if clean is None else clean[axis, -raw.shape[1] :]
    return {
        "type": "trace",
        "rate_hz": rate_hz / _THINNED,
        "raw": centered[::_THINNED].round(4).tolist(),
        "clean": None if shown is None else shown[::_THINNED].round(4).tolist(),
    }
