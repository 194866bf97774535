"""Live sessions: how they stand, who may open them."""

import asyncio

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool

from acclock.session.reasons import Reason
from acclock.world.service import limits
from acclock.world.service.access import Called, Serving
from acclock.world.service.refusals import RefusedError
from acclock.world.service.replicas import order_grant
from acclock.world.service.routes.people import Name, find
from acclock.world.service.service import Service
from acclock.world.service.shapes import (
    Granted,
    GrantRequest,
    Sessions,
    SessionShape,
    StateShape,
)
from acclock.world.service.snapshots import show
from acclock.world.service.takeovers import current_stream

router = APIRouter(prefix="/v1", tags=["sessions"])


@router.get("/sessions", response_model_exclude_unset=True)
async def list_sessions(caller: Called, service: Serving) -> Sessions:
    """Every live session, of all replicas."""
    caller.require("viewer")
    shown = [show(one, caller.role) for one in service.board.snapshots()]
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
    told = service.board.find(current, person.person)
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
    session = service.board.find(current, person.person)
    if session is None:
        raise RefusedError(409, "no_session", f"{person.name} has no live session")
    await run_in_threadpool(order_grant, service.store, session.session, wanted.duration_s)
    await _hurry(service)
    return Granted(granted=[session.session])


async def _hurry(service: Service) -> None:
    """Fetch the order at once, in case that the session is ours."""
    await asyncio.shield(service.presence.sync())
