"""Live sessions: how they stand, who may open them."""

import asyncio

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool

from acclock.live.answers import Reason
from acclock.service.api.people import Name, find
from acclock.service.api.shapes import Granted, GrantRequest, Sessions, SessionShape, StateShape
from acclock.service.auth import limits
from acclock.service.auth.access import Called, Serving
from acclock.service.refusals import RefusedError
from acclock.service.replicas.exchange import current_stream, order_grant
from acclock.service.service import Service
from acclock.service.streams.snapshots import show

router = APIRouter(prefix="/v1", tags=["sessions"])


@router.get("/sessions", response_model_exclude_unset=True)
async def list_sessions(caller: Called, service: Serving) -> Sessions:
    """Every live session, of all replicas."""
    caller.require("viewer")
    shown = [show(one, caller.role) for one in service.registry.snapshots()]
    return Sessions(sessions=[SessionShape.model_validate(one) for one in shown])


@router.get("/people/{name}/state")
async def ask_state(caller: Called, service: Serving, name: Name) -> StateShape:
    """Whether somebody's session is unlocked right now."""
    caller.require("viewer", "device", "relying-party")
    person = await run_in_threadpool(find, service, name)
    caller.require_person(person.person)
    most = service.config.questions_per_minute
    await run_in_threadpool(limits.count, service.store, "question", caller.token, most=most)
    if not service.ready:
        raise RefusedError(
            503, "not_ready", "the service cannot vouch for anybody just now", wait_s=1
        )
    current = await run_in_threadpool(current_stream, service.store, person.person)
    told = service.registry.find(current, person.person)
    reason = told.reason if told else Reason.DISCONNECTED
    return StateShape(
        person=person.name,
        state=told.state if told else "locked",
        reason=reason.value,
        sentence=reason.sentence,
        confidence=told.confidence if told else "low",
        session=told.session if told else None,
    )


@router.post("/people/{name}/grant", status_code=202)
async def grant(caller: Called, service: Serving, name: Name, wanted: GrantRequest) -> Granted:
    """Let another factor open somebody's live session; the heartbeat then sustains it."""
    if not caller.may_grant:
        caller.require()
    person = await run_in_threadpool(find, service, name)
    caller.require_person(person.person)
    current = await run_in_threadpool(current_stream, service.store, person.person)
    session = service.registry.find(current, person.person)
    if session is None:
        raise RefusedError(409, "no_session", f"{person.name} has no live session")
    await run_in_threadpool(order_grant, service.store, session.session, wanted.duration_s)
    await _hurry(service)
    return Granted(granted=[session.session])


async def _hurry(service: Service) -> None:
    """Fetch the order at once, in case that the session is ours."""
    await asyncio.shield(service.replica_sync.sync())
