"""By which rule a threshold is chosen. The paper's is one of several, each with a name."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from acclock.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How an enrollment arrives at its threshold. The defaults are the paper's."""

    user_distances: Literal["enrolled", "left-out"] = "enrolled"
    """From which center the user's windows are measured: from the one they made themselves
    (paper), or from the center of all the others. Ours: the second (docs/decisions/0014)."""
    wanted_far: float | None = None
    """The share of strangers that may be accepted; without it both errors are made equal."""
    neighbors: int | None = None
    """How many of the nearest strangers set the scale of a distance (AS-norm); without it a
    distance is a distance."""
    strictness: float | None = None
    """By how many nats for each number of an embedding a window at the threshold speaks for the
    user, as people of the cohort vary (docs/decisions/0032); without it errors are counted."""

    def __post_init__(self) -> None:
        if self.user_distances not in ("enrolled", "left-out"):
            raise ConfigError(
                f"user_distances is 'enrolled' or 'left-out', not {self.user_distances!r}"
            )
        if self.wanted_far is not None and not 0 < self.wanted_far < 1:
            raise ConfigError(f"a wanted false-accept rate lies in (0, 1), not {self.wanted_far}")
        if self.neighbors is not None and self.neighbors < 2:
            raise ConfigError(f"AS-norm needs at least 2 neighbors, not {self.neighbors}")
        if self.strictness is not None and not (
            self.strictness >= 0 and self.neighbors is None and self.wanted_far is None
        ):
            raise ConfigError("strictness is not negative, and stands without another goal")


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "paper": Rule(),
        "leave-one-out": Rule(user_distances="left-out"),
        "wanted-far": Rule(user_distances="left-out", wanted_far=0.01),
        "as-norm": Rule(user_distances="left-out", neighbors=100),
        "likelihood": Rule(user_distances="left-out", strictness=0.012),
    }
)
"""Every rule that can be asked for by name."""


def name_rule(rule: Rule) -> str:
    """Give the name of a rule, or what it asks for where it has none.

    >>> name_rule(Rule(user_distances="left-out"))
    'leave-one-out'
    """
    return next((name for name, known in RULES.items() if known == rule), str(rule))


def rule_named(name: str) -> Rule:
    """Give the rule of that name.

    >>> rule_named("paper").wanted_far is None
    True
    """
    if name not in RULES:
        raise ConfigError(f"there is no rule {name!r}; there are {', '.join(RULES)}")
    return RULES[name]
