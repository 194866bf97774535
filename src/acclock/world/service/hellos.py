"""The first thing that a client says on a stream: who it is and what it wants."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from acclock.session.policies import Entry, Policy, policy_named
from acclock.world.service.config import ServiceConfig
from acclock.world.service.joining import Wanted
from acclock.world.service.refusals import RefusedError
from acclock.world.service.roles import Caller


class Hello(BaseModel):
    """What a client must say first, with the nonce that it was just given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: Literal["hello"]
    token: Annotated[str, Field(max_length=100, repr=False)]
    nonce: Annotated[str, Field(max_length=64)]
    purpose: Literal["watch", "enroll"] = "watch"
    person: Annotated[str, Field(min_length=1, max_length=64)]
    device: Annotated[str, Field(max_length=64)] = "stream"
    rate_hz: float = 100.0
    policy: str | None = None
    entry: Entry | None = None
    trace: bool = False
    consent: Annotated[str, Field(min_length=1, max_length=200)] | None = None


def read_hello(message: object, *, nonce: str) -> Hello:
    """Read a hello that answers this connection's nonce; another one was recorded elsewhere."""
    try:
        hello = Hello.model_validate(message)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) or "it"
        raise RefusedError(
            422, "bad_hello", f"the hello cannot be read: {place} is wrong"
        ) from None
    if hello.nonce != nonce:
        raise RefusedError(409, "replayed", "the hello answers another connection's nonce")
    return hello


def read_wanted(hello: Hello, caller: Caller, config: ServiceConfig) -> Wanted:
    """Say what a stream may have: the policy and the samples are the operator's to choose."""
    if hello.policy or hello.entry or hello.trace:
        caller.require()
    policy: Policy = policy_named(hello.policy) if hello.policy else config.rules
    entry: Entry = hello.entry or config.entry
    return Wanted(
        device=hello.device,
        rate_hz=hello.rate_hz,
        policy=policy.opened_by(entry),
        traced=hello.trace,
    )
