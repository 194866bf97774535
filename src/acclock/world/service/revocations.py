"""Which tokens the vault's log calls revoked: one that is inserted again does not count."""

from threading import Lock

from sqlalchemy import select

from acclock.errors import DamagedVaultError
from acclock.world.vault.audit import GENESIS, Event, walk
from acclock.world.vault.tables import events
from acclock.world.vault.visit import Visit

REVOKED = "token revoked"
"""The kind of event whose note is the number of a token."""


class Revocations:
    """Follows the chain of events as far as it has grown. Threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._events, self._head = 0, GENESIS
        self._tokens: set[str] = set()
        self._removed: set[str] = set()

    def follow(self, visit: Visit) -> None:
        """Read what was added to the log; refuse a log that is not a longer one of the same."""
        with self._lock:
            if visit.events < self._events or visit.head == self._head:
                return  # another thread has read further than this transaction sees
            added = (events.c.number > self._events) & (events.c.number <= visit.events)
            rows = visit.connection.execute(select(events).where(added).order_by(events.c.number))
            plain = ((row[0], row[1], row[2]) for row in rows)
            read, head = walk(visit.keys.auditing, plain, after=self._events, head=self._head)
            if (self._events + len(read), head) != (visit.events, visit.head):
                raise DamagedVaultError(
                    "the log of the vault is not the one that was followed so far; start again"
                )
            self._events, self._head = visit.events, head
            for event in read:
                self._learn(event)

    def has_revoked(self, token: str) -> bool:
        return token in self._tokens

    def has_removed(self, person: str | None) -> bool:
        return person in self._removed

    def _learn(self, event: Event) -> None:
        if event.kind == REVOKED and event.note is not None:
            self._tokens.add(event.note)
        elif event.kind == "removed" and event.person is not None:
            self._removed.add(event.person)
        elif event.kind == "restored":  # the people are those of the backup
            self._removed.clear()
