"""Who calls: every request shows a token, and wrong ones are counted."""

from typing import Annotated

from fastapi import Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from acclock.service.auth import limits
from acclock.service.auth.roles import Caller
from acclock.service.auth.tokens import check_token
from acclock.service.refusals import RefusedError
from acclock.service.service import Service

_bearer = HTTPBearer(auto_error=False, description="A token, as `acclock token create` prints it.")


def service_of(connection: HTTPConnection) -> Service:
    """Give the service that a request came to."""
    service: Service = connection.app.state.service
    return service


async def caller_of(
    connection: HTTPConnection,
    shown: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> Caller:
    """Say who calls, or refuse."""
    if shown is None:
        raise RefusedError(401, "no_token", "this needs a token: Authorization: Bearer ...")
    return await identify(service_of(connection), shown.credentials, address_of(connection))


async def refuse_strangers(connection: HTTPConnection) -> None:
    """Refuse parameters that the document does not name: a typo must not pass unnoticed.

    It is not a plain function, because those take a thread, and health must not wait for one.
    """
    if connection.scope["type"] != "http" or not connection.query_params:
        return
    paths = connection.app.openapi()["paths"]
    about = paths[connection.scope["route"].path_format][connection.scope["method"].lower()]
    known = {one["name"] for one in about.get("parameters", ()) if one["in"] == "query"}
    if strangers := set(connection.query_params) - known:
        raise RefusedError(
            422, "unknown_parameter", f"there is no parameter {min(strangers)!r} here"
        )


async def identify(service: Service, secret: str, address: str) -> Caller:
    """Say whose a token is; who shows wrong ones too often, or too many at once, must wait."""
    with service.connections.checked(address, secret):
        return await run_in_threadpool(_identify, service, secret, address)


def _identify(service: Service, secret: str, address: str) -> Caller:
    most = service.config.failures_per_minute
    limits.check(service.store, "failure", address, most=most)
    try:
        return check_token(service.store, secret)
    except RefusedError:
        service.metrics.count("refusals", "token")
        limits.count(service.store, "failure", address, most=most)
        raise


def address_of(connection: HTTPConnection) -> str:
    """Give where a call comes from."""
    return connection.client.host if connection.client else "nowhere"


async def _service_of(connection: HTTPConnection) -> Service:
    return service_of(connection)


Called = Annotated[Caller, Depends(caller_of)]
Serving = Annotated[Service, Depends(_service_of)]
