"""A web address that is sent signed security events, each until it is confirmed."""

import hashlib
import time
from pathlib import Path

from joserfc import jwt
from joserfc.jwk import Key

from acclock.errors import SinkError
from acclock.session.events import Event, Status
from acclock.world.signing_keys import algorithm
from acclock.world.sinks.daemons import call_aside
from acclock.world.sinks.delivery import Delivery
from acclock.world.sinks.posting import checked_url
from acclock.world.sinks.retry import Retry
from acclock.world.sinks.security_events import Addresses, Standing, claims, hear
from acclock.world.sinks.spool import Letter, Spool

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
        self._standing, self._last = Standing.from_json(self._spool.note()), ("", -1)
        headers = {"Content-Type": "application/secevent+jwt", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._delivery = Delivery(url, self._spool, headers, retry or Retry())

    async def tell(self, event: Event) -> None:
        """Sign, keep and hand over to the delivery; a repeated event says nothing new."""
        session, number = self._last
        if event.status.session == session and event.number <= number:
            return
        before = self._standing
        # believed from here on, even if a lock overtakes this: then the lock revokes it
        self._standing, said = hear(before, event)
        self._last = (event.status.session, event.number)
        letters = [self._letter(event, kind, content) for kind, content in said.items()]
        note = self._standing.as_json()
        opening = before.assurance == "none"
        await call_aside(lambda: self._keep(letters, note, note_first=opening))
        self._delivery.wake()

    async def refresh(self, status: Status) -> None:  # noqa: ARG002 - any decision is a reminder
        """Send what an earlier run left behind, and pass on what went wrong since the last time."""
        self._delivery.start()
        trouble, self._delivery.trouble = self._delivery.trouble, ""
        if trouble:
            raise SinkError(trouble)

    async def close(self) -> None:
        await self._delivery.close(_PARTING_S)

    def _letter(self, event: Event, kind: str, content: dict[str, object]) -> Letter:
        said = claims(event, kind, content, self._addresses, issued_s=int(time.time()))
        header = {"alg": algorithm(self._key), "typ": "secevent+jwt", "kid": self._key.kid}
        token = jwt.encode(header, said, self._key, algorithms=[algorithm(self._key)])
        return Letter(number=said["jti"], body=token.encode("ascii"))

    def _keep(self, letters: list[Letter], note: bytes, *, note_first: bool) -> None:
        # in this order a crash in between leads to one revocation too many, never to one too few
        if note_first:
            self._spool.take_note(note)
        for letter in letters:
            self._spool.put(letter)
        if not note_first:
            self._spool.take_note(note)
