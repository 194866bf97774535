"""A session: samples and time in, locked or unlocked out."""

from collections.abc import Callable
from math import inf, isfinite

import numpy as np

from acclock.live.answers import Reason, WindowAnswer
from acclock.live.chunks import BreakReason
from acclock.live.evidence import Wearing
from acclock.live.grants import Grant
from acclock.live.identity_tracker import IdentityTracker, WindowEvidence
from acclock.live.lock import (
    Ended,
    Forgotten,
    GrantReceived,
    Lock,
    LockInput,
    Passed,
    Shaken,
    WindowAnswered,
    step,
)
from acclock.live.policies import BALANCED, Policy
from acclock.live.session_state import SessionState, describe
from acclock.live.stream_analyzer import (
    ChunkContexts,
    ChunkResult,
    PendingWindow,
    PreparedChunk,
    StreamAnalyzer,
    prepare_chunks,
)
from acclock.matching.cohort import Cohort
from acclock.matching.template import Template
from acclock.pipeline import Preparation
from acclock.values import BoolArray, FloatArray

Embed = Callable[[FloatArray], FloatArray]
"""Windows ``(batch, 3, n)`` to unit vectors ``(batch, width)``, as an ``Embedder`` does."""

_BREAKS: dict[BreakReason, Reason] = {
    "disconnect": Reason.DISCONNECTED,
    "removed": Reason.REMOVED,
    "end": Reason.ENDED,
    "stall": Reason.STALLED,
    "garbage": Reason.GARBAGE,
    "failure": Reason.FAILED,
}


class Session:
    """One person's session with one earphone. It holds arrays; what it decides is frozen values.

    ``push`` does everything for one stream. Whoever embeds the windows of many streams together
    calls ``listen``, gathers the questions, and gives each embedding to ``hear``; whoever also
    prepares them together calls ``collect`` and ``conclude`` instead of ``listen``. Times are
    seconds of the caller's monotonic clock; one that lies a little back counts as the last one,
    any other that is no time locks. Nothing is raised for what a stream contains.
    """

    def __init__(
        self,
        template: Template,
        cohort: Cohort,
        preparation: Preparation,
        embed: Embed,
        policy: Policy = BALANCED,
        *,
        person: str,
    ) -> None:
        template.require(cohort.model)
        self.person, self.policy = person, policy
        self._preparation, self._embed = preparation, embed
        self._tracker = IdentityTracker(template, cohort, policy)
        self._lock, self._answer = Lock(), WindowAnswer()
        self._now_s, self._received_s = -inf, inf
        self._analyzer = self._listen_anew(0)

    @property
    def lock(self) -> Lock:
        return self._lock

    @property
    def wearing(self) -> Wearing | None:
        """What is known of who wears the earphone; nothing after the person was deleted."""
        return self._tracker.wearing

    @property
    def wearing_number(self) -> int:
        """Which wearing this is, counted from zero."""
        return self._analyzer.wearing

    def push(self, samples: FloatArray, received: BoolArray, now_s: float) -> list[SessionState]:
        """Take even samples ``(3, n)`` and which arrived; say how it stands after each window."""
        pending_windows = self.listen(samples, received, now_s)
        if not pending_windows:
            return [self.session_state]
        embeddings = self._embed(
            np.stack([pending_window.samples for pending_window in pending_windows])
        )
        pairs = zip(pending_windows, embeddings, strict=True)
        return [self.hear(pending_window, embedding, now_s) for pending_window, embedding in pairs]

    def listen(self, samples: FloatArray, received: BoolArray, now_s: float) -> list[PendingWindow]:
        """Take even samples, act on what needs no embedding, and ask for the ones it needs."""
        if (gathered := self.collect(samples, received, now_s)) is None:
            return []
        (seen,) = prepare_chunks([gathered])
        return self.conclude(gathered, seen, now_s)

    def collect(
        self, samples: FloatArray, received: BoolArray, now_s: float
    ) -> ChunkContexts | None:
        """Take even samples; what is to be looked at may be so together with other sessions'."""
        if not self._follow(now_s) or not received.size or not self._tracker.knows_the_user:
            return None
        return self._analyzer.collect(samples, received, self._now_s)

    def conclude(
        self, gathered: ChunkContexts, seen: PreparedChunk, now_s: float
    ) -> list[PendingWindow]:
        """Act on what was seen in what was overheard last, and nothing has happened since."""
        return self.take(self._analyzer.conclude(gathered, seen, self._now_s), now_s)

    def take(self, heard: ChunkResult, now_s: float) -> list[PendingWindow]:
        """Act on what an ear has heard: ``listen`` for those who listen elsewhere."""
        if not self._follow(now_s):
            return []
        if heard.ended is not None or self._is_silent():
            self._end(heard.ended or Reason.STALLED)
            return []
        self._received_s = self._now_s
        if heard.unsettled:
            self._tracker.startle()
        if heard.shaken:
            self._tracker.doubt()
            self._let(Shaken(at_s=self._now_s))
        for answer in heard.answers:
            self._weigh_in(self._tracker.wait())
            self._judge(answer)
        return list(heard.pending_windows)

    def hear(
        self, pending_window: PendingWindow, embedding: FloatArray, now_s: float
    ) -> SessionState:
        """Take the embedding of a window that was asked about; a late one locks."""
        current = pending_window.wearing == self._analyzer.wearing
        if not self._follow(now_s) or not current:
            return self.session_state
        if self._now_s - pending_window.at_s > self.policy.stall_s:
            self._end(Reason.STALE)
            return self.session_state
        self._weigh_in(self._tracker.weigh(pending_window, embedding))
        return self.session_state

    def grant(self, grant: Grant, now_s: float) -> SessionState:
        """Let another factor open the session; a grant for somebody else changes nothing."""
        if self._follow(now_s) and grant.person == self.person:
            self._let(GrantReceived(at_s=self._now_s, grant=grant))
        return self.session_state

    def break_off(self, reason: BreakReason, now_s: float) -> SessionState:
        """Hear that the stream broke off: what comes next must prove itself anew."""
        if self._follow(now_s):
            self._end(_BREAKS[reason])
        return self.session_state

    def tick(self, now_s: float) -> SessionState:
        """Hear that time passes, at least twice a second: silence locks."""
        if self._follow(now_s) and self._is_silent():
            self._end(Reason.STALLED)
        return self.session_state

    def forget(self, now_s: float) -> SessionState:
        """Hear that the person was deleted: nothing of them stays, and nothing opens again."""
        self._follow(now_s)
        self._tracker.forget()
        self._let(Forgotten(at_s=self._now_s))
        self._end(Reason.FORGOTTEN)
        return self.session_state

    @property
    def session_state(self) -> SessionState:
        """How the session stands, as of the last time that it heard of."""
        wearing = self._tracker.wearing
        clear = wearing is not None and wearing.clear(self.policy)
        return describe(self._lock, self._answer, clear=clear, now_s=self._now_s)

    def _listen_anew(self, wearing: int) -> StreamAnalyzer:
        return StreamAnalyzer(self._preparation, self.policy, wearing=wearing)

    def _end(self, reason: Reason) -> None:
        self._analyzer = self._listen_anew(self._analyzer.wearing + 1)
        self._tracker.meet()
        self._answer, self._received_s = WindowAnswer(reason=reason), inf
        self._let(Ended(at_s=self._now_s, reason=reason))

    def _is_silent(self) -> bool:
        """Whether something was heard, but not lately."""
        return self._now_s - self._received_s > self.policy.stall_s

    def _let(self, lock_input: LockInput) -> None:
        before, self._lock = self._lock, step(self._lock, lock_input, self.policy)
        if before.unlocked and not self._lock.unlocked:
            self._tracker.doubt()

    def _follow(self, now_s: float) -> bool:
        """Move on to a time, or lock."""
        if not isfinite(now_s) or now_s < self._now_s - self.policy.stall_s:
            self._end(Reason.CLOCK)
            return False
        if now_s > self._now_s:  # what is heard of one chunk is heard at one time
            self._now_s = now_s
            self._let(Passed(at_s=now_s))
        return True

    def _weigh_in(self, words: list[WindowEvidence]) -> None:
        for word in words:
            self._tracker.take(word)
            self._judge(word.answer)

    def _judge(self, answer: WindowAnswer) -> None:
        """Let the lock hear an answer; a wearing that was disproven begins anew."""
        self._answer, wearing = answer, self._tracker.wearing
        if wearing is None:
            return
        disproven = wearing.disproven(self.policy)
        heard = WindowAnswered(
            at_s=self._now_s,
            answer=answer,
            proven=wearing.trusted,
            disproven=disproven,
            clear=wearing.clear(self.policy),
        )
        self._let(heard)
        if disproven:
            self._tracker.meet()
