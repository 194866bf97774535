"""Whether the wearer of an uploaded recording is the person."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from acclock.service.api.people import Filename, Name, find, recording_body
from acclock.service.api.shapes import Verification
from acclock.service.api.uploads import read_recording, receive, work_on
from acclock.service.auth import limits
from acclock.service.auth.access import Called, Serving

router = APIRouter(prefix="/v1/people", tags=["verification"])


@router.post("/{name}/verify", openapi_extra=recording_body())
async def verify(
    request: Request,
    caller: Called,
    service: Serving,
    name: Name,
    filename: Filename = "recording",
) -> Verification:
    """Tell whether it is the person: a decision, a reason and a confidence of three levels."""
    caller.require("device", "relying-party")
    person = await run_in_threadpool(find, service, name)
    caller.require_person(person.person)
    most = service.config.verifications_per_minute
    await run_in_threadpool(limits.count, service.store, "verify", caller.token, most=most)
    body = await receive(request, caller, most_bytes=service.config.most_upload_bytes)

    def work() -> Verification:
        recording = read_recording(body, filename)
        verdict = service.recognizer.verify(person.name, recording)
        told = verdict.details() if caller.is_operator else verdict.summary()
        return Verification.model_validate(told)

    return await work_on(service, work)
