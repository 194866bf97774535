"""A web address that is sent signed security events, each kept on disk until it is confirmed."""

import asyncio
import contextlib
import hashlib
import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from joserfc import jwt
from joserfc.jwk import Key

from acclock.access.signing_keys import algorithm
from acclock.errors import SinkError, VaultError
from acclock.live.events import SessionEvent, SessionStatus
from acclock.sinks.posting import HttpAnswer, checked_url, post
from acclock.sinks.security_events import Addresses, ReceiverState, claims, react
from acclock.sinks.sink import call_aside, printable
from acclock.system.files import make_private_folder, write_private
from acclock.system.supervision import Retry, Supervisor

_LONGEST = 1000
_NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledMessage:
    """A message with its number, which is the same however often it is sent."""

    number: str
    body: bytes


class Spool:
    """A folder of letters, first in, first out. What was confirmed is gone for good.

    A letter that was confirmed a moment before a crash may be sent again, with the same number.
    """

    def __init__(self, folder: Path) -> None:
        make_private_folder(folder)
        self._folder = folder
        self._turn = max((_turn(path) for path in folder.iterdir()), default=0)

    def put(self, message: SpooledMessage) -> None:
        """Keep a letter; one with the same number is not kept twice."""
        if any(self._folder.glob(f"*-{message.number}.*")):
            return
        self._turn += 1
        write_private(self._folder / f"{self._turn:08d}-{message.number}.letter", message.body)
        self._thin_out()

    def note(self) -> bytes:
        """Give what was last noted beside the letters; nothing when nothing was."""
        path = self._folder / _NOTE
        return path.read_bytes() if path.exists() else b""

    def take_note(self, content: bytes) -> None:
        """Keep a note beside the letters, in place of the last one."""
        write_private(self._folder / _NOTE, content)

    def messages(self) -> list[SpooledMessage]:
        """Give all that nobody has confirmed, the oldest first."""
        return [
            SpooledMessage(number=path.stem.partition("-")[2], body=path.read_bytes())
            for path in self._waiting()
        ]

    def confirm(self, message: SpooledMessage) -> None:
        """Forget a letter that has arrived."""
        for path in self._folder.glob(f"*-{message.number}.letter"):
            path.unlink()

    def refuse(self, message: SpooledMessage) -> None:
        """Lay a letter aside that the receiver will never take, for the owner to look at."""
        for path in self._folder.glob(f"*-{message.number}.letter"):
            path.replace(path.with_suffix(".refused"))

    def _waiting(self) -> list[Path]:
        return sorted(self._folder.glob("*.letter"))

    def _thin_out(self) -> None:
        # after days without a receiver the newest state matters, not every old one
        for kind in ("*.letter", "*.refused"):
            for path in sorted(self._folder.glob(kind))[:-_LONGEST]:
                path.unlink()


def _turn(path: Path) -> int:
    number = path.name.partition("-")[0]
    return int(number) if number.isdigit() else 0


_REFUSED = frozenset({400, 405, 406, 410, 411, 413, 414, 415, 422})
"""The receiver understood and will never take it. Anything else may get better: it is retried."""
_TIMEOUT_S = 5.0


class Delivery:
    """Posts what is in a spool, in order, until each letter is confirmed or refused for good."""

    def __init__(self, url: str, spool: Spool, headers: Mapping[str, str], retry: Retry) -> None:
        self.trouble = ""
        self._url, self._spool, self._headers, self._retry = url, spool, dict(headers), retry
        self._news, self._done = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Look into the spool now, whatever the wait after a failure."""
        self._done.clear()
        self._news.set()
        self.start()

    def start(self) -> None:
        """Begin, if it is not under way."""
        if self._task is None or self._task.done():
            supervisor = Supervisor(
                name="delivery", work=self._run, lock=self._done.clear, report=self._note
            )
            self._task = asyncio.create_task(supervisor.run())

    async def close(self, patience_s: float) -> None:
        """Give the last letters a moment; the next run sends what is left."""
        if self._task is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._done.wait(), patience_s)
            self._task.cancel()

    def _note(self, _: str, said: str) -> None:
        self.trouble = said

    async def _run(self) -> None:
        failures = 0
        while True:
            self._news.clear()
            failures = 0 if await self._empty_spool() else failures + 1
            if not failures and not self._news.is_set():
                self._done.set()
            wait_s = self._retry.wait_s(failures, random.random()) if failures else None  # noqa: S311 - no secret
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), wait_s)

    async def _empty_spool(self) -> bool:
        try:
            for message in await call_aside(self._spool.messages):
                answer = await post(self._url, message.body, self._headers, timeout_s=_TIMEOUT_S)
                await self._settle(message, answer)
        except (SinkError, VaultError, OSError) as error:
            self.trouble = str(error)
            return False
        return True

    async def _settle(self, message: SpooledMessage, answer: HttpAnswer) -> None:
        if 200 <= answer.code < 300:
            await call_aside(lambda: self._spool.confirm(message))
        elif answer.code in _REFUSED:
            await call_aside(lambda: self._spool.refuse(message))
            self.trouble = f"the receiver refused an event ({answer.code}): {_why(answer)}"
        else:
            raise SinkError(f"the receiver answered {answer.code}; the event is sent again later")


def _why(answer: HttpAnswer) -> str:
    try:
        said = json.loads(answer.text)
        return printable(str(said.get("description") or said.get("err")))
    except (ValueError, AttributeError):
        return "no reason was given"


_PARTING_S = 2.0


class Webhook:
    """Pushes security events by RFC 8935, at least once and always with the same ``jti``.

    Each is signed once and kept on the disk until the receiver confirms it. So is what the receiver
    believes: a run that died with a session open is revoked when the next one starts.
    """

    def __init__(
        self,
        url: str,
        *,
        key: Key,
        folder: Path,
        addresses: Addresses,
        token: str | None = None,
        retry: Retry | None = None,
    ) -> None:
        self.name = f"webhook:{checked_url(url).hostname}"
        self._key, self._addresses = key, addresses
        place = f"{url} {addresses.audience}".encode("utf-8", "replace")
        self._spool = Spool(folder / hashlib.sha256(place).hexdigest()[:16])
        self._receiver_state, self._last = ReceiverState.from_json(self._spool.note()), ("", -1)
        headers = {"Content-Type": "application/secevent+jwt", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._delivery = Delivery(url, self._spool, headers, retry or Retry())

    async def notify(self, event: SessionEvent) -> None:
        """Sign, keep and hand over to the delivery; a repeated event says nothing new."""
        session, number = self._last
        if event.status.session == session and event.number <= number:
            return
        before = self._receiver_state
        # believed from here on, even if a lock overtakes this: then the lock revokes it
        self._receiver_state, said = react(before, event)
        self._last = (event.status.session, event.number)
        messages = [self._message(event, kind, content) for kind, content in said.items()]
        note = self._receiver_state.as_json()
        opening = before.assurance == "none"
        await call_aside(lambda: self._keep(messages, note, note_first=opening))
        self._delivery.wake()

    async def refresh(self, status: SessionStatus) -> None:  # noqa: ARG002 - any decision is a reminder
        """Send what an earlier run left behind, and pass on what went wrong since the last time."""
        self._delivery.start()
        trouble, self._delivery.trouble = self._delivery.trouble, ""
        if trouble:
            raise SinkError(trouble)

    async def close(self) -> None:
        await self._delivery.close(_PARTING_S)

    def _message(
        self, event: SessionEvent, kind: str, content: dict[str, object]
    ) -> SpooledMessage:
        said = claims(event, kind, content, self._addresses, issued_s=int(time.time()))
        header = {"alg": algorithm(self._key), "typ": "secevent+jwt", "kid": self._key.kid}
        token = jwt.encode(header, said, self._key, algorithms=[algorithm(self._key)])
        return SpooledMessage(number=said["jti"], body=token.encode("ascii"))

    def _keep(self, messages: list[SpooledMessage], note: bytes, *, note_first: bool) -> None:
        # in this order a crash in between leads to one revocation too many, never to one too few
        if note_first:
            self._spool.take_note(note)
        for message in messages:
            self._spool.put(message)
        if not note_first:
            self._spool.take_note(note)
