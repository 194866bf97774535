"""The application: routes, one handler for refusals, and the static pages."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from anyio import to_thread
from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.requests import Request
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from acclock.errors import AccLockError
from acclock.service.api import (
    about,
    events,
    people,
    pushes,
    sessions,
    streams,
    tokens,
    verifications,
)
from acclock.service.api.guarding import RequestGuard
from acclock.service.api.shapes import Error
from acclock.service.auth.access import refuse_strangers
from acclock.service.refusals import RefusedError, as_refusal, as_response
from acclock.service.service import Service, running, supervise
from acclock.service.streams.pushing import PushedStreams
from acclock.system.supervision import supervising

_THREADS = 6
"""For work that waits for the database. More would keep the engine from its turn when a crowd
comes back at once: each thread holds the interpreter for up to 5 ms."""
_STATIC = Path(__file__).parents[1] / "dashboard"
_REFUSED = (400, 401, 403, 404, 408, 409, 413, 421, 422, 429, 503, 507)
_CODES = {404: "not_found", 405: "method_not_allowed", 408: "too_slow", 413: "too_large"}

_log = logging.getLogger(__name__)


def build_app(service: Service) -> FastAPI:
    """Give the application over an open service; it runs for as long as the server does."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = _THREADS
        app.state.pushing = PushedStreams(service)
        pushing: PushedStreams = app.state.pushing
        sweeper = supervise(service, "pushes", pushing.run, pushing.end_all)
        async with running(service), supervising(sweeper):
            yield

    app = FastAPI(
        title="AccLock",
        version=version("acclock"),
        summary="Who wears the earphone? The heartbeat in its accelerometer tells.",
        openapi_url="/v1/openapi.json",
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
        lifespan=live,
        responses={status: {"model": Error} for status in _REFUSED},
    )
    app.state.service = service
    nouns = (people, verifications, sessions, events, streams, pushes, tokens, about)
    for noun in nouns:
        app.include_router(noun.router, dependencies=[Depends(refuse_strangers)])
    if _STATIC.is_dir():
        app.mount("/", StaticFiles(directory=_STATIC, html=True), name="static")
    app.add_middleware(
        RequestGuard,
        config=service.config,
        connections=service.connections,
        metrics=service.metrics,
    )
    if service.config.trusted_proxies:  # before the guard, who counts by address
        app.add_middleware(
            ProxyHeadersMiddleware, trusted_hosts=list(service.config.trusted_proxies)
        )
    app.add_exception_handler(AccLockError, _refuse)
    app.add_exception_handler(RequestValidationError, _refuse_request)
    app.add_exception_handler(HTTPException, _refuse_route)
    app.add_exception_handler(Exception, _fail)
    return app


async def _refuse(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, AccLockError):
        raise error
    return as_response(as_refusal(error))


async def _refuse_request(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return as_response(RefusedError(422, "invalid_request", f"{place}: {first['msg']}"))


async def _refuse_route(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    code = _CODES.get(error.status_code, "refused")
    refused = RefusedError(error.status_code, code, str(error.detail).lower())
    return as_response(refused, headers=dict(error.headers or {}))


async def _fail(_: Request, error: Exception) -> JSONResponse:
    _log.error("a request failed", exc_info=error)
    return as_response(RefusedError(500, "failed", "the service failed; its log says more"))
