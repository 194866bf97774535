"""Streams that come as single posts, as the phone app Sensor Logger sends them."""

import asyncio
import time
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from acclock.live.answers import Reason
from acclock.service.auth.roles import Caller
from acclock.service.refusals import RefusedError
from acclock.service.service import Service
from acclock.service.streams.joining import StreamRequest, announce, join, leave, prepare
from acclock.service.streams.listener import Message
from acclock.service.streams.snapshots import SessionSnapshot
from acclock.service.streams.stream_session import StreamSession
from acclock.sources.messages import Reader
from acclock.sources.source import Faults
from acclock.vault.people import VaultPerson

_SILENT_S = 5.0
_LAST_WORDS = ("shed", "revoked", "forgotten")


@dataclass(slots=True, kw_only=True, eq=False)
class _Push:
    stream_session: StreamSession
    reader: Reader
    received_s: float
    superseded: bool = False
    """Whether another stream has taken over. Posts that go on are refused: only who has been
    silent begins anew, or two phones would take the session from each other with every post."""


class PushedStreams:
    """One session for each token that posts; it ends when the posts do."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._pushes: dict[str, _Push] = {}
        self._door = asyncio.Lock()

    async def take(
        self, caller: Caller, person: VaultPerson, body: bytes, *, rate_hz: float
    ) -> tuple[int, SessionSnapshot]:
        """Take one post; give how many pieces were in it and how the session stands."""
        self._sweep()
        async with self._door:
            push = self._pushes.get(caller.token) or await self._begin(caller, person, rate_hz)
        push.received_s = time.monotonic()
        if push.superseded:
            raise RefusedError(
                409,
                "superseded",
                f"{Reason.SUPERSEDED.sentence}; stop for {_SILENT_S:g} s to begin anew",
                wait_s=_SILENT_S,
            )
        pieces = list(push.reader.read(body, push.received_s))
        for piece in pieces:
            if not self._service.engine.feed(push.stream_session, piece):
                raise RefusedError(
                    429, "flood", "posts come faster than they can be taken", wait_s=1
                )
        return len(pieces), push.stream_session.snapshot

    async def _begin(self, caller: Caller, person: VaultPerson, rate_hz: float) -> _Push:
        def hear(snapshot: SessionSnapshot, news: list[Message]) -> None:
            announce(self._service, snapshot, news)
            if any(message["type"] == "superseded" for message in news):
                push.superseded = True
            elif any(message["type"] in _LAST_WORDS for message in news):
                self._end(caller.token)

        wanted = StreamRequest(device="push", rate_hz=rate_hz, policy=self._service.config.rules)
        stream_session = await run_in_threadpool(prepare, self._service, person, wanted, hear)
        push = _Push(
            stream_session=stream_session, reader=Reader(Faults()), received_s=time.monotonic()
        )
        self._pushes[caller.token] = push
        try:
            await join(self._service, stream_session, caller.token)
        except BaseException:
            self._end(caller.token)
            raise
        return push

    def _sweep(self) -> None:
        now_s = time.monotonic()
        for token, push in list(self._pushes.items()):
            if now_s - push.received_s > _SILENT_S:
                self._end(token)

    def _end(self, token: str) -> None:
        if (push := self._pushes.pop(token, None)) is not None:
            leave(self._service, push.stream_session)

    def end_all(self) -> None:
        """End every session of posts; whoever posts again begins locked."""
        for token in list(self._pushes):
            self._end(token)

    async def run(self) -> None:
        """End what has fallen silent, until cancelled."""
        while True:
            await asyncio.sleep(1.0)
            self._sweep()
