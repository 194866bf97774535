"""Recordings that a client uploads: bounded in size and time, read, and gone again."""

import asyncio
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from acclock.recordings import read
from acclock.service.auth.access import address_of, service_of
from acclock.service.auth.roles import Caller
from acclock.service.refusals import RefusedError
from acclock.service.service import Service
from acclock.system.files import renaming
from acclock.values import Recording

Result = TypeVar("Result")

_PATIENCE_S = 30.0
_TURN_S = 10.0
_UNFIT = re.compile(r"[^A-Za-z0-9._-]")


async def receive(request: Request, caller: Caller, *, most_bytes: int) -> bytes:
    """Read a body that is neither too large nor too slow, nor one of too many."""
    with service_of(request).connections.identified(caller, address_of(request)):
        return await _read_body(request, most_bytes)


async def _read_body(request: Request, most_bytes: int) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(_PATIENCE_S):
            async for part in request.stream():
                body += part
                if len(body) > most_bytes:
                    raise RefusedError(413, "too_large", f"a body has at most {most_bytes} bytes")
    except TimeoutError:
        raise RefusedError(
            408, "too_slow", f"the body took longer than {_PATIENCE_S:g} s"
        ) from None
    except ClientDisconnect:
        raise RefusedError(400, "gone", "the caller left before the body had ended") from None
    if not body:
        raise RefusedError(422, "empty", "the body is empty; it should be a recording")
    return bytes(body)


async def work_on(service: Service, work: Callable[[], Result]) -> Result:
    """Do long work in a thread, one at a time, or say that there is too much of it."""
    try:
        async with asyncio.timeout(_TURN_S):
            await (
                service.recognizer_work.acquire()
            )  # not in a thread: those who ask for a state need them
    except TimeoutError:
        raise RefusedError(
            503, "busy", "too many recordings are being worked on; try again", wait_s=5
        ) from None
    try:
        return await run_in_threadpool(work)
    finally:
        service.recognizer_work.release()


def read_recording(body: bytes, filename: str) -> Recording:
    """Read an uploaded recording as a file of that name would be read."""
    with _temporary_folder() as folder:
        path = Path(folder) / (_UNFIT.sub("_", filename)[-80:].lstrip(".") or "recording")
        try:
            path.write_bytes(body)
        except OSError as error:
            raise _no_room(error) from None
        with renaming(path, Path(path.name)):
            return read(path)


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="acclock-")
    except OSError as error:
        raise _no_room(error) from None


def _no_room(error: OSError) -> RefusedError:
    return RefusedError(
        507, "disk_full", f"the recording cannot be put aside to be read: {error.strerror}"
    )
