"""Streams over a WebSocket: watch over a session, or enroll somebody."""

import time
from datetime import UTC, datetime
from functools import partial

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from acclock.errors import AccLockError
from acclock.live.answers import Reason
from acclock.live.chunks import Break
from acclock.matching.coaching import finish
from acclock.service.api.people import find, is_known, refuse_taken
from acclock.service.auth import limits
from acclock.service.auth.access import address_of, identify, service_of
from acclock.service.auth.roles import Caller
from acclock.service.refusals import RefusedError
from acclock.service.service import Service
from acclock.service.streams.connection import Connection, Control
from acclock.service.streams.enrolling import StreamEnrollment
from acclock.service.streams.joining import (
    Hello,
    announce,
    choose_model,
    join,
    leave,
    make_clock,
    new_stream,
    prepare,
    read_hello,
    read_wanted,
)
from acclock.service.streams.listener import Message
from acclock.service.streams.snapshots import SessionSnapshot, show
from acclock.vault.names import checked
from acclock.vault.people import VaultPerson

_STALE_S = 1.0
"""A decision is not told as if it were fresh when its samples came longer ago than this."""

router = APIRouter()


@router.websocket("/v1/stream")
async def stream(socket: WebSocket) -> None:
    """Take a stream: welcome, hello, ready, and then frames against decisions."""
    service = service_of(socket)
    await socket.accept()
    connection = Connection(service, socket)
    address = address_of(socket)
    try:
        with service.connections.connected(address, kind="short"):
            hello = read_hello(await connection.greet(), nonce=connection.intake.nonce)
            caller = await _admit(service, hello.token, address)
        serve = _watch if hello.purpose == "watch" else _enroll
        with service.connections.identified(caller, address):
            await serve(service, connection, caller, hello)
    except WebSocketDisconnect:
        pass
    except AccLockError as error:
        await connection.refuse(error)
    except Exception:  # the session has ended; the server logs it and closes the connection
        service.metrics.count("task_failures", "stream")
        raise


async def _admit(service: Service, secret: str, address: str) -> Caller:
    caller = await identify(service, secret, address)
    most = service.config.streams_per_minute
    await run_in_threadpool(limits.count, service.store, "stream", caller.token, most=most)
    return caller


async def _watch(service: Service, connection: Connection, caller: Caller, hello: Hello) -> None:
    caller.require("device")
    person = await run_in_threadpool(find, service, hello.person)
    caller.require_person(person.person)
    wanted = read_wanted(hello, caller, service.config)
    hear = partial(_pass_on, service, connection, caller, traced=wanted.traced)
    stream_session = await run_in_threadpool(prepare, service, person, wanted, hear)
    ready = {
        "type": "ready",
        "policy": wanted.policy.name,
        "entry": wanted.policy.entry,
        "model": service.recognizer.models.name_of(person.model),
    }

    async def obey(control: Control) -> None:
        if control.get("type") == "removed":
            broken = Break(reason="removed", received_s=connection.intake.received_s)
            service.engine.feed(stream_session, broken)
        elif control.get("type") == "bye":
            connection.say({"type": "ended"})
        else:
            raise RefusedError(422, "unknown_message", "a stream takes frames, removed and bye")

    try:
        await join(service, stream_session, caller.token)
        connection.say(ready | show(stream_session.snapshot, caller.role))
        await connection.carry(stream_session, obey)
    finally:
        leave(service, stream_session)


def _pass_on(
    service: Service,
    connection: Connection,
    caller: Caller,
    snapshot: SessionSnapshot,
    news: list[Message],
    *,
    traced: bool,
) -> None:
    """Tell the client and those who listen to events what is new."""
    announce(service, snapshot, news)
    for message in news:
        match message["type"]:
            case "decision":
                about = {"sequence": connection.intake.number_at(message["heard_s"])}
                now = _as_of_now(service, snapshot, message["heard_s"])
                connection.say({"type": "decision"} | about | show(now, caller.role))
            case "change":
                connection.say(message | show(snapshot, caller.role))
            case "trace" if not traced:
                pass  # somebody else looks at the samples
            case _:
                connection.say(message)


def _as_of_now(service: Service, snapshot: SessionSnapshot, received_s: float) -> SessionSnapshot:
    """Give a session as it may be told now: what took too long on the way here opens nothing."""
    if time.monotonic() - received_s <= _STALE_S:
        return snapshot
    service.metrics.count("shed", "told late")
    return snapshot.locked(Reason.STALE)


async def _enroll(service: Service, connection: Connection, caller: Caller, hello: Hello) -> None:
    caller.require()
    if hello.consent is None:
        raise RefusedError(422, "no_consent", "nobody is enrolled who has not agreed to it")
    name = checked(hello.person)
    if await run_in_threadpool(is_known, service, name):
        raise RefusedError(409, "name_taken", f"the name {name!r} is taken")
    chosen = await run_in_threadpool(choose_model, service, hello.rate_hz)
    enrolling = StreamEnrollment(
        stream=new_stream(),
        model=chosen.model,
        clock=make_clock(chosen.model, hello.rate_hz),
        hear=partial(_send_all, connection),
    )
    if not service.engine.admit(enrolling):
        raise RefusedError(503, "busy", "there are too many streams; come back later", wait_s=10)
    ready = {"type": "ready", "person": name, "needed": enrolling.enrollment.goal}
    connection.say(ready | {"model": chosen.model.name, "sentence": chosen.sentence})
    consent = hello.consent

    async def obey(control: Control) -> None:
        if control.get("type") != "finish":
            raise RefusedError(422, "unknown_message", "an enrollment takes frames and finish")
        person = await run_in_threadpool(_finish, service, name, consent, enrolling)
        connection.say({"type": "enrolled", "person": person.name, "version": person.version})
        connection.say({"type": "ended"})

    try:
        await connection.carry(enrolling, obey)
    finally:
        service.engine.dismiss(enrolling)


def _send_all(connection: Connection, news: list[Message]) -> None:
    for message in news:
        connection.say(message)


def _finish(service: Service, name: str, consent: str, enrolling: StreamEnrollment) -> VaultPerson:
    cohort = enrolling.model.cohort
    template = finish(enrolling.enrollment, cohort=cohort, now=datetime.now(UTC))
    with refuse_taken(name):
        return service.recognizer.vault.add(name, template, consent=consent)
