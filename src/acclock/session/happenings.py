"""What can happen to a lock. Each happening knows when."""

from dataclasses import dataclass

from acclock.session.answers import Answer
from acclock.session.grants import Grant
from acclock.session.reasons import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """Another factor vouches for the user."""

    at_s: float
    grant: Grant


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A window was judged."""

    at_s: float
    answer: Answer
    proven: bool = False
    """Whether this wearing has been proven to be the user's, and not been shaken since."""
    disproven: bool = False
    clear: bool = True
    """Whether little speaks against the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaken:
    """The earphone moved as it does in a hand."""

    at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The wearing is over, or nobody can tell: removed, a gap, a disconnect, a wrong clock."""

    at_s: float
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """The person was deleted."""

    at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """Time has passed, and nothing else."""

    at_s: float


Happening = Granted | Answered | Shaken | Ended | Forgotten | Passed
