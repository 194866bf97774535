"""How a stream becomes a live session, from the client's hello to its end."""

import asyncio
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool

from acclock.acquisition.live import LiveClock
from acclock.errors import ModelError
from acclock.live.answers import Reason
from acclock.live.policies import Entry, Policy, policy_named
from acclock.live.session import Session
from acclock.models.catalog import ChosenModel, LoadedModel
from acclock.service.auth.roles import Caller
from acclock.service.config import ServiceConfig
from acclock.service.refusals import RefusedError
from acclock.service.replicas.exchange import take_over
from acclock.service.service import Service
from acclock.service.streams.listener import Message
from acclock.service.streams.registry import LiveSession, SessionChange
from acclock.service.streams.snapshots import SessionSnapshot
from acclock.service.streams.stream_session import OnDecision, StreamSession
from acclock.vault.people import VaultPerson

MOST_HZ, LEAST_HZ = 1000.0, 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRequest:
    """What a stream says about itself."""

    device: str = "stream"
    rate_hz: float = 100.0
    policy: Policy
    traced: bool = False


def new_stream() -> str:
    """Give a random name for a stream."""
    return secrets.token_hex(16)


def prepare(
    service: Service, person: VaultPerson, wanted: StreamRequest, hear: OnDecision
) -> StreamSession:
    """Make a session from somebody's template. It reads the vault: not for the event loop."""
    template = service.recognizer.vault.template(person.name)
    model = service.recognizer.models.made(template.model)
    stream, preparation = new_stream(), model.preparation
    return StreamSession(
        stream=stream,
        session=Session(
            template,
            model.cohort,
            preparation,
            model.embed,
            wanted.policy,
            person=person.name,
        ),
        clock=make_clock(model, wanted.rate_hz),
        embed=model.embed,
        rate_hz=preparation.rate_hz,
        snapshot=SessionSnapshot(
            session=stream,
            person=person.person,
            name=person.name,
            device=wanted.device,
            at=time.time(),
        ),
        hear=hear,
        traced=wanted.traced,
        news=[],
    )


def choose_model(service: Service, source_hz: float) -> ChosenModel:
    """Choose the model that enrolls from a source of that rate. It may load it from the disk."""
    _require_rate(source_hz)
    with _refuse_rate():
        return service.recognizer.models.choose(source_hz)


def make_clock(model: LoadedModel, source_hz: float) -> LiveClock:
    """Give a clock for a source of that rate, if the model can read it."""
    _require_rate(source_hz)
    with _refuse_rate():
        model.card.require_sampled(source_hz)
    return LiveClock(source_hz=source_hz, rate_hz=model.card.rate_hz)


def _require_rate(source_hz: float) -> None:
    if not LEAST_HZ <= source_hz <= MOST_HZ:
        raise RefusedError(
            422, "bad_rate", f"a stream has {LEAST_HZ:g} to {MOST_HZ:g} samples a second"
        )


@contextmanager
def _refuse_rate() -> Iterator[None]:
    try:
        yield
    except ModelError as refusal:
        raise RefusedError(422, "bad_rate", str(refusal)) from None


async def join(service: Service, stream_session: StreamSession, token: str) -> None:
    """Let a session live in the place of the person's last one, unless there are too many."""
    if not service.engine.admit(stream_session):
        service.metrics.count("refusals", "busy")
        raise RefusedError(503, "busy", "there are too many streams; come back later", wait_s=10)
    snapshot, registry = stream_session.snapshot, service.registry
    try:
        await run_in_threadpool(take_over, service.store, snapshot.person, stream_session.stream)
    except BaseException:
        service.engine.dismiss(stream_session)
        raise
    replaces = any(
        live.stream_session.snapshot.person == snapshot.person for live in registry.live.values()
    )
    registry.live[stream_session.stream] = LiveSession(stream_session=stream_session, token=token)
    registry.publish(SessionChange(kind="started", snapshot=snapshot), share=True)
    if replaces:  # the database says which of the two is the newer one
        await asyncio.shield(service.replica_sync.sync())


def leave(service: Service, stream_session: StreamSession) -> None:
    """End a session. Whoever comes back begins locked."""
    service.engine.dismiss(stream_session)
    if service.registry.live.pop(stream_session.stream, None) is None:
        return
    ended = stream_session.snapshot.locked(Reason.DISCONNECTED)
    service.registry.publish(SessionChange(kind="stopped", snapshot=ended), share=True)


def announce(service: Service, snapshot: SessionSnapshot, news: list[Message]) -> None:
    """Tell those who listen to events what is new about a session, for as long as it lives."""
    if any(message["type"] == "superseded" for message in news):
        service.metrics.count("takeovers", "superseded")
    if snapshot.session not in service.registry.live:
        return
    for message in news:
        match message["type"]:
            case "decision":
                service.registry.publish(SessionChange(kind="session", snapshot=snapshot))
            case "change":
                kind = str(message["kind"])
                service.registry.publish(SessionChange(kind=kind, snapshot=snapshot), share=True)
            case "trace":
                body = {key: told for key, told in message.items() if key != "type"}
                service.registry.publish(SessionChange(kind="trace", snapshot=snapshot, body=body))


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


def read_wanted(hello: Hello, caller: Caller, config: ServiceConfig) -> StreamRequest:
    """Say what a stream may have: the policy and the samples are the operator's to choose."""
    if hello.policy or hello.entry or hello.trace:
        caller.require()
    policy: Policy = policy_named(hello.policy) if hello.policy else config.rules
    entry: Entry = hello.entry or config.entry
    return StreamRequest(
        device=hello.device,
        rate_hz=hello.rate_hz,
        policy=policy.opened_by(entry),
        traced=hello.trace,
    )
