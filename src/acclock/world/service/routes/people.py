"""People: enroll from a recording, list, export, delete."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query
from fastapi.responses import JSONResponse
from starlette.requests import Request

from acclock.errors import FullDiskError, NameRefusedError
from acclock.world.service import receipts
from acclock.world.service.access import Called, Serving
from acclock.world.service.refusals import RefusedError
from acclock.world.service.service import Service
from acclock.world.service.shapes import People, PersonShape, Removed
from acclock.world.service.tokens import revoke_person
from acclock.world.service.uploads import read_recording, receive, work_on
from acclock.world.vault.names import checked
from acclock.world.vault.people import Person

router = APIRouter(prefix="/v1/people", tags=["people"])


def recording_body() -> dict[str, object]:
    """Say in the OpenAPI document that the body is a recording."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    return {"requestBody": {"required": True, "content": {"application/octet-stream": binary}}}


Name = Annotated[str, Path(min_length=1, max_length=64)]
NewName = Annotated[str, Query(min_length=1, max_length=64)]
Consent = Annotated[
    str, Query(min_length=1, max_length=200, description="What they agreed to, as a version.")
]
Filename = Annotated[str, Query(max_length=200, description="Its ending may tell the format.")]
Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]


@router.get("")
def list_people(caller: Called, service: Serving) -> People:
    """Everybody who is enrolled."""
    caller.require("viewer")
    people = service.desk.vault.people()
    return People(people=[_show(service, person) for person in people])


@router.post("", status_code=201, openapi_extra=recording_body())
async def enroll(  # noqa: PLR0913 - FastAPI reads the request off the arguments
    request: Request,
    caller: Called,
    service: Serving,
    name: NewName,
    consent: Consent,
    filename: Filename = "recording",
    key: Key = None,
) -> PersonShape:
    """Enroll somebody from a recording, who has agreed to it. With a key it may be asked again."""
    caller.require()
    wanted = checked(name)
    body = await receive(request, caller, most_bytes=service.config.most_upload_bytes)

    def work() -> PersonShape:
        recording = read_recording(body, filename)
        with refuse_taken(wanted):
            made = service.desk.enroll(wanted, [recording], consent=consent)
        return _show(service, made.person)

    if key is None:
        return await work_on(service, work)
    told = body + f"\n{wanted}\n{consent}".encode()

    def work_once() -> PersonShape:
        receipt = receipts.begin(service.store, caller.token, key, told)
        return _once(service, receipt, wanted, work)

    return await work_on(service, work_once)


@router.get("/{name}")
def show(caller: Called, service: Serving, name: Name) -> PersonShape:
    """Somebody who is enrolled."""
    caller.require("viewer")
    return _show(service, find(service, name))


@router.get("/{name}/export", response_class=JSONResponse)
def export(caller: Called, service: Serving, name: Name) -> dict[str, object]:
    """All that is stored about somebody, for them to have. The log notes it."""
    caller.require()
    return service.desk.vault.export(find(service, name).name)


@router.delete("/{name}")
def remove(caller: Called, service: Serving, name: Name) -> Removed:
    """Delete somebody, with their key and every token about them; their sessions lock."""
    caller.require()
    person = find(service, name)
    erased = service.desk.vault.remove(person.name)
    with suppress(FullDiskError):  # their tokens count no more: the log calls them removed
        revoke_person(service.store, person.person)
    return Removed(removed=person.name, erased=erased)


def find(service: Service, name: str) -> Person:
    """Look somebody up, or refuse as one who asks for what is not there."""
    try:
        return service.desk.vault.person(name)
    except NameRefusedError as error:
        raise RefusedError(404, "unknown_person", str(error)) from None


@contextmanager
def refuse_taken(name: str) -> Iterator[None]:
    """Refuse to enroll somebody under a name that another has."""
    try:
        yield
    except NameRefusedError:
        raise RefusedError(409, "name_taken", f"the name {name!r} is taken") from None


def _once(
    service: Service, receipt: receipts.Receipt, name: str, work: Callable[[], PersonShape]
) -> PersonShape:
    """Do it, unless that was done; what a crash left half done is looked at first."""
    if receipt.result is not None or (not receipt.first and is_known(service, name)):
        made = _show(service, find(service, name))
    else:
        try:
            made = work()
        except Exception:
            receipts.cancel(service.store, receipt)
            raise
    receipts.finish(service.store, receipt, made.person)
    return made


def is_known(service: Service, name: str) -> bool:
    """Tell whether somebody is enrolled under a name."""
    try:
        find(service, name)
    except RefusedError:
        return False
    return True


def _show(service: Service, person: Person) -> PersonShape:
    model = service.desk.models.name_of(person.model)
    return PersonShape(
        name=person.name,
        person=person.person,
        created=person.created.isoformat(),
        version=person.version,
        model=model or person.model[:12],
        current=model is not None,
    )
