"""People: enroll from a recording, once for each key of a client's; list, export, delete."""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Header, Path, Query
from fastapi.responses import JSONResponse
from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError
from starlette.requests import Request

from acclock.errors import FullDiskError, NameRefusedError
from acclock.service.api.shapes import People, PersonShape, Removed
from acclock.service.api.uploads import read_recording, receive, work_on
from acclock.service.auth.access import Called, Serving
from acclock.service.auth.tokens import revoke_person
from acclock.service.refusals import RefusedError
from acclock.service.service import Service
from acclock.service.store import ServiceStore, receipts
from acclock.vault.names import checked
from acclock.vault.people import VaultPerson


class Receipt(NamedTuple):
    """What is known of something that was asked for under a key."""

    key: str
    """The digest of the key."""
    result: str | None
    """What came of it; nothing while it is being done, or when a crash ended that."""
    first: bool
    """Whether it was never asked for before."""


def begin_receipt(store: ServiceStore, token: str, key: str, request: bytes) -> Receipt:
    """Note that something is being asked for; give what came of it before, if it was."""
    digest = hashlib.sha256(f"{token}\n{key}".encode()).hexdigest()
    asked = hashlib.sha256(request).hexdigest()
    row = {"key": digest, "request": asked, "result": None, "at": time.time()}
    with store.writing() as connection:
        found = connection.execute(select(receipts).where(receipts.c.key == digest)).first()
        if found is None:
            try:
                connection.execute(insert(receipts), row)
            except IntegrityError:
                raise RefusedError(409, "at_work", "the same is being asked just now") from None
            return Receipt(digest, None, first=True)
    if found.request != asked:
        raise RefusedError(409, "key_reused", "this idempotency key was used for something else")
    return Receipt(digest, found.result, first=False)


def finish_receipt(store: ServiceStore, receipt: Receipt, result: str) -> None:
    """Note what came of it."""
    with store.writing() as connection:
        connection.execute(
            update(receipts).where(receipts.c.key == receipt.key).values(result=result)
        )


def cancel_receipt(store: ServiceStore, receipt: Receipt) -> None:
    """Forget that it was asked: nothing came of it."""
    with store.writing() as connection:
        connection.execute(receipts.delete().where(receipts.c.key == receipt.key))


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
    people = service.recognizer.vault.people()
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
            made = service.recognizer.enroll(wanted, [recording], consent=consent)
        return _show(service, made.person)

    if key is None:
        return await work_on(service, work)
    told = body + f"\n{wanted}\n{consent}".encode()

    def work_once() -> PersonShape:
        receipt = begin_receipt(service.store, caller.token, key, told)
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
    return service.recognizer.vault.export(find(service, name).name)


@router.delete("/{name}")
def remove(caller: Called, service: Serving, name: Name) -> Removed:
    """Delete somebody, with their key and every token about them; their sessions lock."""
    caller.require()
    person = find(service, name)
    erased = service.recognizer.vault.remove(person.name)
    with suppress(FullDiskError):  # their tokens count no more: the log calls them removed
        revoke_person(service.store, person.person)
    return Removed(removed=person.name, erased=erased)


def find(service: Service, name: str) -> VaultPerson:
    """Look somebody up, or refuse as one who asks for what is not there."""
    try:
        return service.recognizer.vault.person(name)
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
    service: Service, receipt: Receipt, name: str, work: Callable[[], PersonShape]
) -> PersonShape:
    """Do it, unless that was done; what a crash left half done is looked at first."""
    if receipt.result is not None or (not receipt.first and is_known(service, name)):
        made = _show(service, find(service, name))
    else:
        try:
            made = work()
        except Exception:
            cancel_receipt(service.store, receipt)
            raise
    finish_receipt(service.store, receipt, made.person)
    return made


def is_known(service: Service, name: str) -> bool:
    """Tell whether somebody is enrolled under a name."""
    try:
        find(service, name)
    except RefusedError:
        return False
    return True


def _show(service: Service, person: VaultPerson) -> PersonShape:
    model = service.recognizer.models.name_of(person.model)
    return PersonShape(
        name=person.name,
        person=person.person,
        created=person.created.isoformat(),
        version=person.version,
        model=model or person.model[:12],
        current=model is not None,
    )
