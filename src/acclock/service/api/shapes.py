"""The shapes of what the API takes and gives."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from acclock.live.events import State
from acclock.matching.verdict import Confidence, Decision
from acclock.service.auth.roles import Role


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Fault(_Shape):
    """A code for programs and a sentence for people."""

    code: str
    sentence: str


class Error(_Shape):
    """Every error has this shape."""

    error: Fault


class PersonShape(_Shape):
    """Somebody who is enrolled."""

    name: str
    person: str = Field(description="A random number: what the log knows them by.")
    created: str
    version: int = Field(description="Of the template in use.")
    model: str = Field(description="Which made the template; a number where it is not here.")
    current: bool = Field(description="Whether that model is here, so that they can be recognized.")


class People(_Shape):
    """Everybody who is enrolled."""

    people: list[PersonShape]


class Verification(_Shape):
    """Whether the wearer of a recording is the person; the numbers are the operator's alone."""

    verified: bool
    decision: Decision
    reason: str
    confidence: Confidence
    distance: float | None = None
    threshold: float | None = None
    windows: int | None = None


class SessionShape(_Shape):
    """How a session stands. What a role may not see is left out."""

    session: str
    person: str
    state: State
    decision: Decision
    reason: str
    sentence: str
    confidence: Confidence
    window: str = Field(description="Why the last window said what it said.")
    window_sentence: str
    at: float
    device: str | None = None
    heart_rate_bpm: float | None = None
    clarity: float | None = None
    nats: float | None = None
    lockout_s: float | None = None


class Sessions(_Shape):
    """Every live session."""

    sessions: list[SessionShape]


class StateShape(_Shape):
    """Whether somebody's session is unlocked right now. Without a session it is locked."""

    person: str
    state: State
    reason: str
    sentence: str
    confidence: Confidence
    session: str | None


class GrantRequest(_Shape):
    """Another factor vouches for somebody for so long."""

    duration_s: Annotated[float, Field(ge=1, le=86400)]


class Granted(_Shape):
    """Which sessions were told."""

    granted: list[str]


class TokenRequest(_Shape):
    """A token to be made."""

    role: Role
    person: Annotated[str, Field(max_length=64)] | None = None
    duration_s: Annotated[float, Field(ge=60, le=366 * 86400)]
    may_grant: bool = False
    note: Annotated[str, Field(max_length=64)] = ""


class TokenShape(_Shape):
    """What is known of a token."""

    token: str
    role: Role
    person: str | None
    may_grant: bool
    note: str
    created: float
    expires: float


class NewToken(TokenShape):
    """A token that was just made. The secret is shown this once."""

    secret: str


class Tokens(_Shape):
    """All tokens."""

    tokens: list[TokenShape]


class PolicyShape(_Shape):
    """How strict a session is."""

    name: str
    entry: Literal["grant", "heartbeat"]
    numbers: dict[str, float]


class Policies(_Shape):
    """The policy in use and all that there are."""

    used: PolicyShape
    policies: list[PolicyShape]


class AuditEvent(_Shape):
    """Something that happened to the vault."""

    number: int
    time: str
    kind: str
    person: str | None
    version: int | None
    note: str | None


class Audit(_Shape):
    """The end of the vault's log, after its chain was followed from the beginning."""

    events: list[AuditEvent]
    total: int


class Removed(_Shape):
    """Somebody is gone."""

    removed: str
    erased: bool = Field(description="Whether the bytes are gone from the files by now.")


class Health(_Shape):
    """Whether the service can vouch for anybody."""

    status: Literal["ok", "not ready"]
    streams: int
    version: str


class Taken(_Shape):
    """How much of a push was taken."""

    taken: int
    session: str
    state: State
