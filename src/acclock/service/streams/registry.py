"""Every live session that this process knows of, and those who want to hear about them."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from acclock.live.answers import Reason
from acclock.service.streams.listener import Message
from acclock.service.streams.snapshots import SessionSnapshot
from acclock.service.streams.stream_session import StreamSession

_MOST_UNREAD = 256
"""Messages; whoever reads more slowly loses the oldest."""
_SILENT_S = 2.0
"""A session of ours that has not spoken for so long is not vouched for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChange:
    """Something about one session, for those who listen to events."""

    kind: str
    snapshot: SessionSnapshot
    body: Message = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSession:
    """A session whose stream ends at this process."""

    stream_session: StreamSession
    token: str


class SessionRegistry:
    """Used on the event loop alone."""

    def __init__(self) -> None:
        self.live: dict[str, LiveSession] = {}
        self.remote: dict[str, SessionSnapshot] = {}
        """Sessions of other replicas that are alive."""
        self.names: dict[str, str] = {}
        """The names of people by number."""
        self.unshared: list[tuple[str, SessionSnapshot]] = []
        """Changes that other replicas have not been told yet, with their kinds."""
        self._readers: set[asyncio.Queue[SessionChange]] = set()

    def snapshots(self) -> list[SessionSnapshot]:
        """Give every session as it stands now, in order of their names."""
        ours = [self.vouch(live.stream_session.snapshot) for live in self.live.values()]
        people = {live.stream_session.snapshot.person for live in self.live.values()}
        theirs = [
            replace(one, name=self.names.get(one.person, ""))
            for one in self.remote.values()
            if one.person not in people  # it is being replaced, or ours is and ends soon
        ]
        return sorted([*ours, *theirs], key=lambda one: (one.name, one.session))

    def find(self, stream: str | None, person: str) -> SessionSnapshot | None:
        """Give how a stream stands now, if it is alive and of that person."""
        found = (one for one in self.snapshots() if (one.session, one.person) == (stream, person))
        return next(found, None)

    def supersede(self, stream: str) -> LiveSession | None:
        """Drop a session that another one has replaced, and tell everybody that it is locked."""
        if (live := self.live.pop(stream, None)) is not None:
            ended = live.stream_session.snapshot.locked(Reason.SUPERSEDED)
            self.publish(SessionChange(kind="stopped", snapshot=ended), share=True)
        return live

    def publish(self, news: SessionChange, *, share: bool = False) -> None:
        """Tell everybody here, and let the other replicas know of what they should."""
        if share:
            self.unshared.append((news.kind, news.snapshot))
        for reader in self._readers:
            if reader.full():
                reader.get_nowait()
            reader.put_nowait(news)

    @contextmanager
    def listening(self) -> Iterator[asyncio.Queue[SessionChange]]:
        """Give a queue that fills with news for as long as this lasts."""
        reader: asyncio.Queue[SessionChange] = asyncio.Queue(_MOST_UNREAD)
        self._readers.add(reader)
        try:
            yield reader
        finally:
            self._readers.discard(reader)

    def vouch(self, snapshot: SessionSnapshot) -> SessionSnapshot:
        """Give a session of ours as it may be told: locked when it has not spoken lately."""
        silent_s = time.monotonic() - snapshot.received_s
        stale = snapshot.state == "unlocked" and silent_s > _SILENT_S
        return snapshot.locked(Reason.STALE) if stale else snapshot
