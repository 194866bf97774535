"""A session that listens to one stream: whether it is the user, and still is."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

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
from acclock.world.service.tracing import Tracing

_LOOKED_S = 15.0
"""For how long a look lasts."""

Hear = Callable[[Snapshot, list[Message]], None]


@dataclass(slots=True, kw_only=True, eq=False)
class Watching:
    """Feeds a session, and turns how it stands into messages."""

    stream: str
    session: Session
    clock: LiveClock
    embed: Callable[[FloatArray], FloatArray]
    """Of the model that made the person's template."""
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
    _heard_s: float = 0.0
    _tracing: Tracing = field(init=False)

    def __post_init__(self) -> None:
        self._tracing = Tracing(self.rate_hz)

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
        self._begun = True
        self._tracing.hear(part.samples, self.session.wearing_number, seen=self._is_seen())
        return self.session.overhear(part.samples, part.received, self._heard_s)

    def understand(self, overheard: Overheard, seen: Seen) -> list[Asked]:
        questions = self.session.understand(overheard, seen, self._heard_s)
        if not questions:  # otherwise the answers tell
            self._note(self.session.standing)
        if self._is_seen() and (trace := self._tracing.show(seen.windows)) is not None:
            self.news.append(trace)
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
            samples=question.samples,
            embed=self.embed,
            heard_s=self._heard_s,  # the session may since have heard of a later time
            answer=partial(self._hear, question, self._heard_s),
        )

    def _hear(
        self, question: Question, heard_s: float, embedding: FloatArray, now_s: float
    ) -> None:
        self._heard_s = heard_s
        self._note(self.session.hear(question, embedding, now_s), asked=True)

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
