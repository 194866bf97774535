"""Who is heard: what the windows of this wearing say of the user, and when it counts."""

from dataclasses import dataclass
from math import ceil

from acclock.live.answers import WindowAnswer, judge_weight
from acclock.live.evidence import Wearing, add_window, begin, prove, shake, weigh
from acclock.live.policies import Policy
from acclock.live.stream_analyzer import PendingWindow
from acclock.matching.cohort import Cohort
from acclock.matching.template import Template
from acclock.values import FloatArray

_HELD_S = 0.5
"""A hand is felt so long after it has gripped the earphone: what spoke for the user waits."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowEvidence:
    """What one window says of the user."""

    embedding: FloatArray
    answer: WindowAnswer


class IdentityTracker:
    """Weighs windows by the template and by the wearing itself.

    What speaks against the user counts at once. What speaks for them waits for half a second and
    is dropped when the earphone was startled meanwhile: the window may end in a hand.
    """

    def __init__(self, template: Template, cohort: Cohort, policy: Policy) -> None:
        self._template: Template | None = template
        self._cohort, self._policy = cohort, policy
        self._unknown: Wearing | None = begin(template, cohort, policy)
        """Somebody of whom nothing is known: the same each time, and not cheap to make."""
        self._held: list[WindowEvidence | None] = []
        """One for each of the last windows; nothing where one did not speak for the user."""
        self._most_held = ceil(_HELD_S / policy.step_s)
        self.wearing: Wearing | None = None
        """What is known of who wears the earphone; nothing after the person was deleted."""
        self.meet()

    @property
    def knows_the_user(self) -> bool:
        return self._template is not None

    def meet(self) -> None:
        """Begin anew: somebody wears the earphone of whom nothing is known."""
        self._held = []
        self.wearing = self._unknown

    def forget(self) -> None:
        """Let go of the user, for good."""
        self._template = self._unknown = None
        self.meet()

    def startle(self) -> None:
        """Drop what is held back: it was said when a hand may already have been there."""
        self._held = []

    def doubt(self) -> None:
        """Let the wearing be proven once more before it counts again."""
        self._held = []
        self.wearing = shake(self.wearing) if self.wearing else None

    def weigh(self, pending_window: PendingWindow, embedding: FloatArray) -> list[WindowEvidence]:
        """Weigh a window; give the words that count now, oldest first."""
        if self.wearing is None:
            return []
        nats = weigh(self.wearing, embedding)
        answer = judge_weight(pending_window.quality, nats, lively=pending_window.lively)
        word = WindowEvidence(embedding=embedding, answer=answer)
        if answer.decision == "accept":
            return self.wait(word)
        return [*self.wait(), word]

    def wait(self, word: WindowEvidence | None = None) -> list[WindowEvidence]:
        """Let the time of one window pass, and hold a word back; give the one that is due."""
        self._held.append(word)
        due = self._held.pop(0) if len(self._held) > self._most_held else None
        return [due] if due else []

    def take(self, word: WindowEvidence) -> None:
        """Let a word count."""
        if self.wearing is None or self._template is None or not word.answer.nats:
            return
        heard = add_window(self.wearing, word.embedding, word.answer.nats, self._policy)
        self.wearing = prove(heard, self._template, self._cohort, self._policy)
