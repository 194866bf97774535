"""Streams that come as single posts, as the phone app Sensor Logger sends them."""

import asyncio
import time
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from acclock.session.reasons import Reason
from acclock.world.service.joining import Wanted, announce, join, leave, prepare
from acclock.world.service.listeners import Message
from acclock.world.service.refusals import RefusedError
from acclock.world.service.roles import Caller
from acclock.world.service.service import Service
from acclock.world.service.snapshots import Snapshot
from acclock.world.service.watching import Watching
from acclock.world.sources.messages import Reader
from acclock.world.sources.source import Faults
from acclock.world.vault.people import Person

_SILENT_S = 5.0
_LAST_WORDS = ("shed", "revoked", "forgotten")


@dataclass(slots=True, kw_only=True, eq=False)
class _Push:
    watching: Watching
    reader: Reader
    heard_s: float
    superseded: bool = False
    """Whether another stream has taken over. Posts that go on are refused: only who has been
    silent begins anew, or two phones would take the session from each other with every post."""


class Pushing:
    """One session for each token that posts; it ends when the posts do."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._pushes: dict[str, _Push] = {}
        self._door = asyncio.Lock()

    async def take(
        self, caller: Caller, person: Person, body: bytes, *, rate_hz: float
    ) -> tuple[int, Snapshot]:
        """Take one post; give how many pieces were in it and how the session stands."""
        self._sweep()
        async with self._door:
            push = self._pushes.get(caller.token) or await self._begin(caller, person, rate_hz)
        push.heard_s = time.monotonic()
        if push.superseded:
            raise RefusedError(
                409,
                "superseded",
                f"{Reason.SUPERSEDED.sentence}; stop for {_SILENT_S:g} s to begin anew",
                wait_s=_SILENT_S,
            )
        pieces = list(push.reader.read(body, push.heard_s))
        for piece in pieces:
            if not self._service.engine.feed(push.watching, piece):
                raise RefusedError(
                    429, "flood", "posts come faster than they can be taken", wait_s=1
                )
        return len(pieces), push.watching.snapshot

    async def _begin(self, caller: Caller, person: Person, rate_hz: float) -> _Push:
        def hear(snapshot: Snapshot, news: list[Message]) -> None:
            announce(self._service, snapshot, news)
            if any(message["type"] == "superseded" for message in news):
                push.superseded = True
            elif any(message["type"] in _LAST_WORDS for message in news):
                self._end(caller.token)

        wanted = Wanted(device="push", rate_hz=rate_hz, policy=self._service.config.rules)
        watching = await run_in_threadpool(prepare, self._service, person, wanted, hear)
        push = _Push(watching=watching, reader=Reader(Faults()), heard_s=time.monotonic())
        self._pushes[caller.token] = push
        try:
            await join(self._service, watching, caller.token)
        except BaseException:
            self._end(caller.token)
            raise
        return push

    def _sweep(self) -> None:
        now_s = time.monotonic()
        for token, push in list(self._pushes.items()):
            if now_s - push.heard_s > _SILENT_S:
                self._end(token)

    def _end(self, token: str) -> None:
        if (push := self._pushes.pop(token, None)) is not None:
            leave(self._service, push.watching)

    def end_all(self) -> None:
        """End every session of posts; whoever posts again begins locked."""
        for token in list(self._pushes):
            self._end(token)

    async def run(self) -> None:
        """End what has fallen silent, until cancelled."""
        while True:
            await asyncio.sleep(1.0)
            self._sweep()
