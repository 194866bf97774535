"""What Sensor Logger pushes over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from acclock.service.api.shapes import Taken
from acclock.service.api.uploads import receive
from acclock.service.auth.access import Called, Serving
from acclock.service.auth.roles import Caller
from acclock.service.refusals import RefusedError
from acclock.service.service import Service
from acclock.service.streams.pushing import PushedStreams
from acclock.sources.frames import LARGEST_BYTES
from acclock.vault.people import VaultPerson

router = APIRouter(prefix="/v1", tags=["streams"])

Rate = Annotated[float, Query(ge=20, le=1000, description="Samples a second.")]
_JSON = {"content": {"application/json": {"schema": {"type": "object"}}}, "required": True}


@router.post("/push", openapi_extra={"requestBody": _JSON})
async def push(request: Request, caller: Called, service: Serving, rate_hz: Rate = 100.0) -> Taken:
    """Take a push of the app Sensor Logger, or a frame as JSON, for the token's own person."""
    if caller.role != "device":
        raise RefusedError(403, "forbidden", "only a device token says whose samples these are")
    body = await receive(request, caller, most_bytes=LARGEST_BYTES)
    person = await run_in_threadpool(_person_of, service, caller)
    pushing: PushedStreams = request.app.state.pushing
    taken, snapshot = await pushing.take(caller, person, body, rate_hz=rate_hz)
    return Taken(taken=taken, session=snapshot.session, state=snapshot.state)


def _person_of(service: Service, caller: Caller) -> VaultPerson:
    people = service.recognizer.vault.people()
    found = next((one for one in people if one.person == caller.person), None)
    if found is None:
        raise RefusedError(404, "unknown_person", "the person of this token is no longer known")
    return found
