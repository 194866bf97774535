"""A session: samples and time in, locked or unlocked out."""

from collections.abc import Callable
from math import inf, isfinite

import numpy as np

from acclock.matching.cohort import Cohort
from acclock.matching.template import Template
from acclock.pipeline import Preparation
from acclock.session.answers import Answer
from acclock.session.chunks import BreakReason
from acclock.session.ear import Ear, Heard, Overheard, Seen, look_together
from acclock.session.grants import Grant
from acclock.session.happenings import (
    Answered,
    Ended,
    Forgotten,
    Granted,
    Happening,
    Passed,
    Shaken,
)
from acclock.session.lock import Lock
from acclock.session.policies import BALANCED, Policy
from acclock.session.questions import Question
from acclock.session.reasons import Reason
from acclock.session.standing import Standing, stand
from acclock.session.steps import step
from acclock.session.wearings import Wearing
from acclock.session.witness import Witness, Word
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
    prepares them together calls ``overhear`` and ``understand`` instead of ``listen``. Times are
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
        self._witness = Witness(template, cohort, policy)
        self._lock, self._answer = Lock(), Answer()
        self._now_s, self._heard_s = -inf, inf
        self._ear = self._listen_anew(0)

    @property
    def lock(self) -> Lock:
        return self._lock

    @property
    def wearing(self) -> Wearing | None:
        """What is known of who wears the earphone; nothing after the person was deleted."""
        return self._witness.wearing

    @property
    def wearing_number(self) -> int:
        """Which wearing this is, counted from zero."""
        return self._ear.wearing

    def push(self, samples: FloatArray, received: BoolArray, now_s: float) -> list[Standing]:
        """Take even samples ``(3, n)`` and which arrived; say how it stands after each window."""
        questions = self.listen(samples, received, now_s)
        if not questions:
            return [self.standing]
        embeddings = self._embed(np.stack([question.samples for question in questions]))
        pairs = zip(questions, embeddings, strict=True)
        return [self.hear(question, embedding, now_s) for question, embedding in pairs]

    def listen(self, samples: FloatArray, received: BoolArray, now_s: float) -> list[Question]:
        """Take even samples, act on what needs no embedding, and ask for the ones it needs."""
        if (overheard := self.overhear(samples, received, now_s)) is None:
            return []
        (seen,) = look_together([overheard])
        return self.understand(overheard, seen, now_s)

    def overhear(self, samples: FloatArray, received: BoolArray, now_s: float) -> Overheard | None:
        """Take even samples; what is to be looked at may be so together with other sessions'."""
        if not self._follow(now_s) or not received.size or not self._witness.knows_the_user:
            return None
        return self._ear.overhear(samples, received, self._now_s)

    def understand(self, overheard: Overheard, seen: Seen, now_s: float) -> list[Question]:
        """Act on what was seen in what was overheard last, and nothing has happened since."""
        return self.take(self._ear.understand(overheard, seen, self._now_s), now_s)

    def take(self, heard: Heard, now_s: float) -> list[Question]:
        """Act on what an ear has heard: ``listen`` for those who listen elsewhere."""
        if not self._follow(now_s):
            return []
        if heard.ended is not None or self._is_silent():
            self._end(heard.ended or Reason.STALLED)
            return []
        self._heard_s = self._now_s
        if heard.unsettled:
            self._witness.startle()
        if heard.shaken:
            self._witness.doubt()
            self._let(Shaken(at_s=self._now_s))
        for answer in heard.answers:
            self._weigh_in(self._witness.wait())
            self._judge(answer)
        return list(heard.questions)

    def hear(self, question: Question, embedding: FloatArray, now_s: float) -> Standing:
        """Take the embedding of a window that was asked about; a late one locks."""
        current = question.wearing == self._ear.wearing
        if not self._follow(now_s) or not current:
            return self.standing
        if self._now_s - question.at_s > self.policy.stall_s:
            self._end(Reason.STALE)
            return self.standing
        self._weigh_in(self._witness.weigh(question, embedding))
        return self.standing

    def grant(self, grant: Grant, now_s: float) -> Standing:
        """Let another factor open the session; a grant for somebody else changes nothing."""
        if self._follow(now_s) and grant.person == self.person:
            self._let(Granted(at_s=self._now_s, grant=grant))
        return self.standing

    def break_off(self, reason: BreakReason, now_s: float) -> Standing:
        """Hear that the stream broke off: what comes next must prove itself anew."""
        if self._follow(now_s):
            self._end(_BREAKS[reason])
        return self.standing

    def tick(self, now_s: float) -> Standing:
        """Hear that time passes, at least twice a second: silence locks."""
        if self._follow(now_s) and self._is_silent():
            self._end(Reason.STALLED)
        return self.standing

    def forget(self, now_s: float) -> Standing:
        """Hear that the person was deleted: nothing of them stays, and nothing opens again."""
        self._follow(now_s)
        self._witness.forget()
        self._let(Forgotten(at_s=self._now_s))
        self._end(Reason.FORGOTTEN)
        return self.standing

    @property
    def standing(self) -> Standing:
        """How the session stands, as of the last time that it heard of."""
        wearing = self._witness.wearing
        clear = wearing is not None and wearing.clear(self.policy)
        return stand(self._lock, self._answer, clear=clear, now_s=self._now_s)

    def _listen_anew(self, wearing: int) -> Ear:
        return Ear(self._preparation, self.policy, wearing=wearing)

    def _end(self, reason: Reason) -> None:
        self._ear = self._listen_anew(self._ear.wearing + 1)
        self._witness.meet()
        self._answer, self._heard_s = Answer(reason=reason), inf
        self._let(Ended(at_s=self._now_s, reason=reason))

    def _is_silent(self) -> bool:
        """Whether something was heard, but not lately."""
        return self._now_s - self._heard_s > self.policy.stall_s

    def _let(self, happening: Happening) -> None:
        before, self._lock = self._lock, step(self._lock, happening, self.policy)
        if before.unlocked and not self._lock.unlocked:
            self._witness.doubt()

    def _follow(self, now_s: float) -> bool:
        """Move on to a time, or lock."""
        if not isfinite(now_s) or now_s < self._now_s - self.policy.stall_s:
            self._end(Reason.CLOCK)
            return False
        if now_s > self._now_s:  # what is heard of one chunk is heard at one time
            self._now_s = now_s
            self._let(Passed(at_s=now_s))
        return True

    def _weigh_in(self, words: list[Word]) -> None:
        for word in words:
            self._witness.take(word)
            self._judge(word.answer)

    def _judge(self, answer: Answer) -> None:
        """Let the lock hear an answer; a wearing that was disproven begins anew."""
        self._answer, wearing = answer, self._witness.wearing
        if wearing is None:
            return
        disproven = wearing.disproven(self.policy)
        heard = Answered(
            at_s=self._now_s,
            answer=answer,
            proven=wearing.trusted,
            disproven=disproven,
            clear=wearing.clear(self.policy),
        )
        self._let(heard)
        if disproven:
            self._witness.meet()
