"""Every live session that this process knows of, and those who want to hear about them."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from acclock.session.reasons import Reason
from acclock.world.service.listeners import Message
from acclock.world.service.snapshots import Snapshot
from acclock.world.service.watching import Watching

_MOST_UNREAD = 256
"""Messages; whoever reads more slowly loses the oldest."""
_SILENT_S = 2.0
"""A session of ours that has not spoken for so long is not vouched for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """Something about one session, for those who listen to events."""

    kind: str
    snapshot: Snapshot
    body: Message = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A session whose stream ends at this process."""

    watching: Watching
    token: str


class Board:
    """Used on the event loop alone."""

    def __init__(self) -> None:
        self.live: dict[str, Live] = {}
        self.remote: dict[str, Snapshot] = {}
        """Sessions of other replicas that are alive."""
        self.names: dict[str, str] = {}
        """The names of people by number."""
        self.unshared: list[tuple[str, Snapshot]] = []
        """Changes that other replicas have not been told yet, with their kinds."""
        self._readers: set[asyncio.Queue[News]] = set()

    def snapshots(self) -> list[Snapshot]:
        """Give every session as it stands now, in order of their names."""
        ours = [self.vouch(live.watching.snapshot) for live in self.live.values()]
        people = {live.watching.snapshot.person for live in self.live.values()}
        theirs = [
            replace(one, name=self.names.get(one.person, ""))
            for one in self.remote.values()
            if one.person not in people  # it is being replaced, or ours is and ends soon
        ]
        return sorted([*ours, *theirs], key=lambda one: (one.name, one.session))

    def find(self, stream: str | None, person: str) -> Snapshot | None:
        """Give how a stream stands now, if it is alive and of that person."""
        found = (one for one in self.snapshots() if (one.session, one.person) == (stream, person))
        return next(found, None)

    def supersede(self, stream: str) -> Live | None:
        """Drop a session that another one has replaced, and tell everybody that it is locked."""
        if (live := self.live.pop(stream, None)) is not None:
            ended = live.watching.snapshot.locked(Reason.SUPERSEDED)
            self.publish(News(kind="stopped", snapshot=ended), share=True)
        return live

    def publish(self, news: News, *, share: bool = False) -> None:
        """Tell everybody here, and let the other replicas know of what they should."""
        if share:
            self.unshared.append((news.kind, news.snapshot))
        for reader in self._readers:
            if reader.full():
                reader.get_nowait()
            reader.put_nowait(news)

    @contextmanager
    def listening(self) -> Iterator[asyncio.Queue[News]]:
        """Give a queue that fills with news for as long as this lasts."""
        reader: asyncio.Queue[News] = asyncio.Queue(_MOST_UNREAD)
        self._readers.add(reader)
        try:
            yield reader
        finally:
            self._readers.discard(reader)

    def vouch(self, snapshot: Snapshot) -> Snapshot:
        """Give a session of ours as it may be told: locked when it has not spoken lately."""
        silent_s = time.monotonic() - snapshot.heard_s
        stale = snapshot.state == "unlocked" and silent_s > _SILENT_S
        return snapshot.locked(Reason.STALE) if stale else snapshot
