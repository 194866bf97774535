"""What happens, as it happens: server-sent events."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from acclock.service.api.people import find
from acclock.service.auth.access import Called, Serving, address_of
from acclock.service.auth.roles import BOUND, Caller
from acclock.service.service import Service
from acclock.service.streams.registry import SessionChange
from acclock.service.streams.snapshots import SessionSnapshot, show

router = APIRouter(prefix="/v1", tags=["events"])

_QUIET_S = 10.0
"""After so much silence a comment is sent, by which a dead connection is noticed."""
_LIFETIME_S = 3600.0
"""After which a client has to come again, and show a token that is still good."""

Of = Annotated[str | None, Query(max_length=64, description="Only of this person.")]
Trace = Annotated[bool, Query(description="With samples, for an operator.")]


@router.get("/events", response_class=StreamingResponse)
async def listen(
    request: Request,
    caller: Called,
    service: Serving,
    person: Of = None,
    trace: Trace = False,
) -> StreamingResponse:
    """Hear of sessions: ``session`` for each decision, ``change`` when one locks or unlocks."""
    wanted = caller.person if caller.role in BOUND else None
    if person is not None:
        found = await run_in_threadpool(find, service, person)
        caller.require_person(found.person)
        wanted = found.person
    if trace:
        caller.require()
    return _Events(
        _stream_events(service, caller, wanted, trace=trace),
        service.connections.identified(caller, address_of(request)),
    )


class _Events(StreamingResponse):
    """Events for as long as their connection lasts, which is held meanwhile or refused."""

    def __init__(self, content: AsyncIterator[str], held: AbstractContextManager[None]) -> None:
        headers = {"Cache-Control": "no-store"}
        super().__init__(content, media_type="text/event-stream", headers=headers)
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._held:
            await super().__call__(scope, receive, send)


async def _stream_events(
    service: Service, caller: Caller, person: str | None, *, trace: bool
) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    end_s = loop.time() + _LIFETIME_S
    with service.registry.listening() as reader:
        for snapshot in service.registry.snapshots():
            if person in (None, snapshot.person):
                yield _write(SessionChange(kind="session", snapshot=snapshot), caller)
        while loop.time() < end_s:
            if trace:
                _check_person(service, person)
            try:
                async with asyncio.timeout(_QUIET_S):
                    news = await reader.get()
            except TimeoutError:
                yield ": still here\n\n"
                continue
            if person in (None, news.snapshot.person) and (trace or news.kind != "trace"):
                yield _write(news, caller)


def _check_person(service: Service, person: str | None) -> None:
    """Let the sessions that somebody looks at show their samples."""
    for live in service.registry.live.values():
        if person in (None, live.stream_session.snapshot.person):
            live.stream_session.looked_s = time.monotonic()


def _write(news: SessionChange, caller: Caller) -> str:
    kind = news.kind if news.kind in ("session", "trace") else "change"
    body = _body(news, news.snapshot, caller)
    return f"event: {kind}\ndata: {json.dumps(body)}\n\n"


def _body(news: SessionChange, snapshot: SessionSnapshot, caller: Caller) -> dict[str, object]:
    if news.kind == "trace":
        return {"session": snapshot.session, "person": snapshot.name, **news.body}
    if news.kind == "session":
        return show(snapshot, caller.role)
    return {"kind": news.kind} | show(snapshot, caller.role)
