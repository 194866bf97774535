"""How strict a session is: frozen numbers by name."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Literal, Self, get_args

from acclock.denoising.quality import WARM_UP_S
from acclock.errors import ConfigError

Entry = Literal["grant", "heartbeat"]
MOST_COHORT_FACTOR = 3.0
"""No policy accepts at a distance that encloses more strangers, measured by the threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When to trust and when not. The defaults are the balanced policy (docs/session.md).

    Evidence is counted in nats: natural logarithms of how much likelier one explanation is.
    """

    name: str = "balanced"
    entry: Entry = "grant"
    """What opens a session: another factor's grant, or a longer proof by the heartbeat alone."""
    step_s: float = 0.5
    """How often a window is judged."""
    cohort_factor: float = 0.9
    """How many times the share of the cohort that the enrolled threshold encloses may lie nearer
    than a distance that still speaks for the user (docs/decisions/0044)."""
    wearing_factor: float = 2.0
    """The same for the distance from a proven wearing's own center, by which it is revoked."""
    proof_nats: float = 8.0
    """Evidence that proves a wearing to be the user's, or not to be."""
    proof_s: float = 10.0
    """How long the heartbeat must have spoken for the user, at least, to prove a wearing."""
    entry_nats: float = 30.0
    """What takes the place of ``proof_nats`` when the heartbeat alone opens."""
    entry_s: float = 30.0
    """What takes the place of ``proof_s`` when the heartbeat alone opens."""
    revoke_nats: float = 13.0
    """Evidence against the proven wearer that ends the session."""
    confirm_s: float = 60.0
    """How long a grant may stand without the heartbeat's proof, or wait for a heartbeat."""
    grace_s: float = 15.0
    """How long trust lasts when nothing renews it: motion, a weak signal, lasting doubt."""
    resume_s: float = 60.0
    """How long after a shake or lost trust the same wearing may go on, proven anew; 0 is never."""
    stall_s: float = 1.0
    """The longest silence, and the longest that anything may come late."""
    most_lost: float = 0.3
    """The largest share of samples that may be lost."""
    episodes: int = 3
    """How many strangers it takes until the heartbeat alone no longer opens."""
    lockout_s: float = 30.0
    """How long the first lockout lasts; each further one lasts twice as long."""
    longest_lockout_s: float = 900.0

    def __post_init__(self) -> None:
        if self.entry not in get_args(Entry):
            raise ConfigError(f"an entry is one of {', '.join(get_args(Entry))}, not {self.entry}")
        self._require_numbers()
        if not 0.1 <= self.step_s <= min(4.0, self.stall_s):
            raise ConfigError(f"a step lasts 0.1 s up to the longest silence, not {self.step_s}")
        if max(self.cohort_factor, self.wearing_factor) > MOST_COHORT_FACTOR:
            raise ConfigError(
                f"cohort_factor and wearing_factor are at most {MOST_COHORT_FACTOR:g}, "
                f"not {self.cohort_factor} and {self.wearing_factor}"
            )
        if self.most_lost > 1.0:
            raise ConfigError(f"most_lost is a share, not {self.most_lost}")
        if self.confirm_s <= self.needed_s + WARM_UP_S:
            raise ConfigError(f"confirm_s leaves no time for the proof: {self.confirm_s}")

    def _require_numbers(self) -> None:
        for name in (one.name for one in fields(self) if one.name not in ("name", "entry")):
            value = getattr(self, name)
            if not (0 <= value < 1e6) or (value == 0 and name != "resume_s"):
                raise ConfigError(f"{name} of a policy must be positive, not {value}")

    @property
    def needed_nats(self) -> float:
        """The evidence that proves a wearing, by the way in which sessions open."""
        return self.proof_nats if self.entry == "grant" else self.entry_nats

    @property
    def needed_s(self) -> float:
        return self.proof_s if self.entry == "grant" else self.entry_s

    def opened_by(self, entry: Entry) -> Self:
        """Give the same policy with another entry.

        >>> BALANCED.opened_by("heartbeat").needed_s
        30.0
        """
        return replace(self, entry=entry)


BALANCED = Policy()
STRICT = Policy(
    name="strict",
    cohort_factor=0.3,
    wearing_factor=1.0,
    revoke_nats=7.0,
    confirm_s=40.0,
    grace_s=10.0,
    resume_s=0.0,
)
COMFORTABLE = Policy(
    name="comfortable",
    cohort_factor=1.2,
    wearing_factor=3.0,
    revoke_nats=17.0,
    confirm_s=90.0,
    grace_s=30.0,
    resume_s=180.0,
)
POLICIES: Mapping[str, Policy] = MappingProxyType(
    {policy.name: policy for policy in (STRICT, BALANCED, COMFORTABLE)}
)
"""Every policy that can be asked for by name."""


def policy_named(name: str) -> Policy:
    """Give the policy of that name.

    >>> policy_named("strict").resume_s
    0.0
    """
    if name not in POLICIES:
        raise ConfigError(f"there is no policy {name!r}; there are {', '.join(POLICIES)}")
    return POLICIES[name]
