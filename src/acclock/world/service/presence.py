"""A process among its replicas: it tells them how its sessions stand, and hears of theirs."""

import asyncio
import logging
import math
import time
from dataclasses import replace

from acclock.errors import AccLockError
from acclock.session.reasons import Reason
from acclock.world.service.board import Board, News
from acclock.world.service.engine import Engine
from acclock.world.service.listeners import Message
from acclock.world.service.metrics import Metrics
from acclock.world.service.replicas import Heard, Told, clear_up, exchange, forget_replica
from acclock.world.service.snapshots import Snapshot
from acclock.world.service.store import Store
from acclock.world.vault.vault import Vault

_EVERY_S = 0.5
_LEASE_S = 3.0
"""A replica that nobody hears of for so long is dead: its sessions are locked, and it knows."""
_CLEAR_UP_S = 60.0

SUPERSEDED: Message = {"type": "superseded", "sentence": Reason.SUPERSEDED.sentence}

_log = logging.getLogger(__name__)


class Presence:
    """Twice a second, one transaction. Without the database for three seconds, all is locked."""

    def __init__(
        self,
        replica: str,
        *,
        board: Board,
        engine: Engine,
        metrics: Metrics,
        store: Store,
        vault: Vault,
    ) -> None:
        self._replica, self._board, self._engine = replica, board, engine
        self._metrics, self._store, self._vault = metrics, store, vault
        self._shared: dict[str, Snapshot] = {}
        self._last: int | None = None
        self._beats: dict[str, tuple[int, float]] = {}
        self._people: tuple[int, dict[str, str]] = (-1, {})
        self._unreadable: frozenset[str] = frozenset()
        self._cleared_s = time.monotonic()
        self.heard_s = time.monotonic()
        """When the database last answered."""

    @property
    def well(self) -> bool:
        return time.monotonic() - self.heard_s < _LEASE_S

    async def run(self) -> None:
        """Go on until cancelled; a database that hangs is as good as gone."""
        while True:
            syncing = asyncio.ensure_future(self.sync())
            try:
                while not (await asyncio.wait({syncing}, timeout=_EVERY_S))[0]:
                    self._lock_if_unwell()
                syncing.result()
            finally:
                syncing.cancel()
            await asyncio.sleep(_EVERY_S)

    async def sync(self) -> None:
        """Tell and hear once; lock everything when that has not worked for too long."""
        told = self._tell()
        try:
            heard, self._people = await asyncio.to_thread(self._exchange, told)
        except Exception as error:
            self._board.unshared = [*told.kinds, *self._board.unshared][-1000:]
            self._lock_if_unwell()
            if not isinstance(error, AccLockError):
                raise
            _log.warning("%s", error)
            return
        self._shared |= {stream: one for stream, (_, one) in told.changed.items()}
        self._shared = {one: told for one, told in self._shared.items() if one in self._board.live}
        self._end_revoked(told, heard)
        self._end_deleted(told.held)
        self.heard_s = time.monotonic()
        self._hear(heard)
        self._end_superseded(heard)
        self._note_unreadable(heard.unreadable)

    def lock(self) -> None:
        """Vouch for nobody, here or at other replicas, until the database has answered again."""
        self.heard_s = -math.inf
        self._lock_if_unwell()

    def _lock_if_unwell(self) -> None:
        if not self.well:
            self._engine.lock_all()
            self._board.remote = {}

    async def leave(self) -> None:
        """Say goodbye, so that nobody waits for us to die."""
        try:
            await asyncio.to_thread(forget_replica, self._store, self._replica)
        except AccLockError as error:
            _log.warning("%s", error)

    def _tell(self) -> Told:
        board = self._board
        kinds, board.unshared = board.unshared, []
        changed = {
            stream: (live.token, snapshot)
            for stream, live in board.live.items()
            if _differ(self._shared.get(stream), snapshot := board.vouch(live.watching.snapshot))
        }
        return Told(
            replica=self._replica,
            changed=changed,
            unchanged={
                stream: (live.token, self._shared[stream])
                for stream, live in board.live.items()
                if stream not in changed
            },
            held=frozenset(board.live),
            tokens=frozenset(live.token for live in board.live.values()),
            kinds=kinds,
            last=self._last,
        )

    def _exchange(self, told: Told) -> tuple[Heard, tuple[int, dict[str, str]]]:
        heard = exchange(self._store, told)
        if time.monotonic() - self._cleared_s > _CLEAR_UP_S:
            self._cleared_s = time.monotonic()
            clear_up(self._store)
        with self._vault.reading() as visit:
            events = visit.events
        known = self._people
        if events != known[0]:
            known = events, {person.person: person.name for person in self._vault.people()}
        return heard, known

    def _hear(self, heard: Heard) -> None:
        now_s = time.monotonic()
        for replica, beat in heard.beats.items():
            if beat > self._beats.get(replica, (-1,))[0]:
                # of one never heard before, nobody knows whether this beat was its last
                first = replica not in self._beats
                self._beats[replica] = (beat, -_LEASE_S if first else now_s)
        alive = {one for one, (_, at_s) in self._beats.items() if now_s - at_s < _LEASE_S}
        self._beats = {one: self._beats[one] for one in heard.beats}
        self._board.remote = {
            stream: snapshot
            for stream, (replica, snapshot) in heard.sessions.items()
            if replica in alive
        }
        self._last = heard.last
        for kind, snapshot in heard.changes:
            named = replace(snapshot, name=self._board.names.get(snapshot.person, ""))
            self._board.publish(News(kind=kind, snapshot=named))
        self._obey(heard)

    def _obey(self, heard: Heard) -> None:
        live = self._board.live
        for stream, duration_s in heard.grants:
            if stream in live and stream not in heard.superseded:
                watching = live[stream].watching
                self._engine.feed(watching, lambda one=watching, s=duration_s: one.grant(s))  # type: ignore[misc]

    def _end_superseded(self, heard: Heard) -> None:
        """End the streams in whose place a newer one of the same person has come."""
        for stream in heard.superseded:
            if (live := self._board.supersede(stream)) is not None:
                self._engine.dismiss(live.watching)
                live.watching.tell([SUPERSEDED])

    def _end_revoked(self, told: Told, heard: Heard) -> None:
        """End the streams of tokens that are no longer good, of those that were asked about."""
        for live in list(self._board.live.values()):
            if live.token in told.tokens - heard.valid:
                live.watching.tell([{"type": "revoked"}])

    def _end_deleted(self, held: frozenset[str]) -> None:
        """Know everybody's name, and end the sessions of those who were deleted.

        It is said each time until their streams are gone: an engine that fails forgets it.
        """
        self._board.names = people = self._people[1]
        for live in self._board.live.values():
            gone = live.watching.snapshot.person not in people
            if gone and live.watching.stream in held:
                self._engine.feed(live.watching, live.watching.forget)

    def _note_unreadable(self, rows: frozenset[str]) -> None:
        """Count rows that cannot be read, each once for as long as it is there."""
        if new := rows - self._unreadable:
            for row in new:
                self._metrics.count("unreadable_rows", row.partition(" ")[0])
            _log.warning("%d rows of other replicas cannot be read and are skipped", len(new))
        self._unreadable = rows


def _differ(before: Snapshot | None, now: Snapshot) -> bool:
    return before is None or (before.state, before.reason, before.confidence) != (
        now.state,
        now.reason,
        now.confidence,
    )
