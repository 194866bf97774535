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

from acclock.world.service.access import Called, Serving, address_of
from acclock.world.service.board import News
from acclock.world.service.roles import BOUND, Caller
from acclock.world.service.routes.people import find
from acclock.world.service.service import Service
from acclock.world.service.snapshots import Snapshot, show

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
        _tell(service, caller, wanted, trace=trace),
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


async def _tell(
    service: Service, caller: Caller, person: str | None, *, trace: bool
) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    end_s = loop.time() + _LIFETIME_S
    with service.board.listening() as reader:
        for snapshot in service.board.snapshots():
            if person in (None, snapshot.person):
                yield _write(News(kind="session", snapshot=snapshot), caller)
        while loop.time() < end_s:
            if trace:
                _look(service, person)
            try:
                async with asyncio.timeout(_QUIET_S):
                    news = await reader.get()
            except TimeoutError:
                yield ": still here\n\n"
                continue
            if person in (None, news.snapshot.person) and (trace or news.kind != "trace"):
                yield _write(news, caller)


def _look(service: Service, person: str | None) -> None:
    """Let the sessions that somebody looks at show their samples."""
    for live in service.board.live.values():
        if person in (None, live.watching.snapshot.person):
            live.watching.looked_s = time.monotonic()


def _write(news: News, caller: Caller) -> str:
    kind = news.kind if news.kind in ("session", "trace") else "change"
    body = _body(news, news.snapshot, caller)
    return f"event: {kind}\ndata: {json.dumps(body)}\n\n"


def _body(news: News, snapshot: Snapshot, caller: Caller) -> dict[str, object]:
    if news.kind == "trace":
        return {"session": snapshot.session, "person": snapshot.name, **news.body}
    if news.kind == "session":
        return show(snapshot, caller.role)
    return {"kind": news.kind} | show(snapshot, caller.role)
