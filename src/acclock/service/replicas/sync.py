"""A process among its replicas: it tells them how its sessions stand, and hears of theirs."""

import asyncio
import logging
import math
import time
from dataclasses import replace

from acclock.errors import AccLockError
from acclock.live.answers import Reason
from acclock.service.metrics import Metrics
from acclock.service.replicas.exchange import (
    ReplicaReply,
    ReplicaReport,
    clear_up,
    exchange,
    forget_replica,
)
from acclock.service.store import ServiceStore
from acclock.service.streams.engine import Engine
from acclock.service.streams.listener import Message
from acclock.service.streams.registry import SessionChange, SessionRegistry
from acclock.service.streams.snapshots import SessionSnapshot
from acclock.vault.vault import Vault

_EVERY_S = 0.5
_LEASE_S = 3.0
"""A replica that nobody hears of for so long is dead: its sessions are locked, and it knows."""
_CLEAR_UP_S = 60.0

SUPERSEDED: Message = {"type": "superseded", "sentence": Reason.SUPERSEDED.sentence}

_log = logging.getLogger(__name__)


class ReplicaSync:
    """Twice a second, one transaction. Without the database for three seconds, all is locked."""

    def __init__(
        self,
        replica: str,
        *,
        registry: SessionRegistry,
        engine: Engine,
        metrics: Metrics,
        store: ServiceStore,
        vault: Vault,
    ) -> None:
        self._replica, self._registry, self._engine = replica, registry, engine
        self._metrics, self._store, self._vault = metrics, store, vault
        self._shared: dict[str, SessionSnapshot] = {}
        self._last: int | None = None
        self._beats: dict[str, tuple[int, float]] = {}
        self._people: tuple[int, dict[str, str]] = (-1, {})
        self._unreadable: frozenset[str] = frozenset()
        self._cleared_s = time.monotonic()
        self.received_s = time.monotonic()
        """When the database last answered."""

    @property
    def well(self) -> bool:
        return time.monotonic() - self.received_s < _LEASE_S

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
        told = self._make_report()
        try:
            heard, self._people = await asyncio.to_thread(self._exchange, told)
        except Exception as error:
            self._registry.unshared = [*told.kinds, *self._registry.unshared][-1000:]
            self._lock_if_unwell()
            if not isinstance(error, AccLockError):
                raise
            _log.warning("%s", error)
            return
        self._shared |= {stream: one for stream, (_, one) in told.changed.items()}
        self._shared = {
            one: told for one, told in self._shared.items() if one in self._registry.live
        }
        self._end_revoked(told, heard)
        self._end_deleted(told.held)
        self.received_s = time.monotonic()
        self._apply(heard)
        self._end_superseded(heard)
        self._note_unreadable(heard.unreadable)

    def lock(self) -> None:
        """Vouch for nobody, here or at other replicas, until the database has answered again."""
        self.received_s = -math.inf
        self._lock_if_unwell()

    def _lock_if_unwell(self) -> None:
        if not self.well:
            self._engine.lock_all()
            self._registry.remote = {}

    async def leave(self) -> None:
        """Say goodbye, so that nobody waits for us to die."""
        try:
            await asyncio.to_thread(forget_replica, self._store, self._replica)
        except AccLockError as error:
            _log.warning("%s", error)

    def _make_report(self) -> ReplicaReport:
        registry = self._registry
        kinds, registry.unshared = registry.unshared, []
        changed = {
            stream: (live.token, snapshot)
            for stream, live in registry.live.items()
            if _differ(
                self._shared.get(stream), snapshot := registry.vouch(live.stream_session.snapshot)
            )
        }
        return ReplicaReport(
            replica=self._replica,
            changed=changed,
            unchanged={
                stream: (live.token, self._shared[stream])
                for stream, live in registry.live.items()
                if stream not in changed
            },
            held=frozenset(registry.live),
            tokens=frozenset(live.token for live in registry.live.values()),
            kinds=kinds,
            last=self._last,
        )

    def _exchange(self, told: ReplicaReport) -> tuple[ReplicaReply, tuple[int, dict[str, str]]]:
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

    def _apply(self, heard: ReplicaReply) -> None:
        now_s = time.monotonic()
        for replica, beat in heard.beats.items():
            if beat > self._beats.get(replica, (-1,))[0]:
                # of one never heard before, nobody knows whether this beat was its last
                first = replica not in self._beats
                self._beats[replica] = (beat, -_LEASE_S if first else now_s)
        alive = {one for one, (_, at_s) in self._beats.items() if now_s - at_s < _LEASE_S}
        self._beats = {one: self._beats[one] for one in heard.beats}
        self._registry.remote = {
            stream: snapshot
            for stream, (replica, snapshot) in heard.sessions.items()
            if replica in alive
        }
        self._last = heard.last
        for kind, snapshot in heard.changes:
            named = replace(snapshot, name=self._registry.names.get(snapshot.person, ""))
            self._registry.publish(SessionChange(kind=kind, snapshot=named))
        self._obey(heard)

    def _obey(self, heard: ReplicaReply) -> None:
        live = self._registry.live
        for stream, duration_s in heard.grants:
            if stream in live and stream not in heard.superseded:
                session = live[stream].stream_session
                self._engine.feed(session, lambda one=session, s=duration_s: one.grant(s))  # type: ignore[misc]

    def _end_superseded(self, heard: ReplicaReply) -> None:
        """End the streams in whose place a newer one of the same person has come."""
        for stream in heard.superseded:
            if (live := self._registry.supersede(stream)) is not None:
                self._engine.dismiss(live.stream_session)
                live.stream_session.notify([SUPERSEDED])

    def _end_revoked(self, told: ReplicaReport, heard: ReplicaReply) -> None:
        """End the streams of tokens that are no longer good, of those that were asked about."""
        for live in list(self._registry.live.values()):
            if live.token in told.tokens - heard.valid:
                live.stream_session.notify([{"type": "revoked"}])

    def _end_deleted(self, held: frozenset[str]) -> None:
        """Know everybody's name, and end the sessions of those who were deleted.

        It is said each time until their streams are gone: an engine that fails forgets it.
        """
        self._registry.names = people = self._people[1]
        for live in self._registry.live.values():
            gone = live.stream_session.snapshot.person not in people
            if gone and live.stream_session.stream in held:
                self._engine.feed(live.stream_session, live.stream_session.forget)

    def _note_unreadable(self, rows: frozenset[str]) -> None:
        """Count rows that cannot be read, each once for as long as it is there."""
        if new := rows - self._unreadable:
            for row in new:
                self._metrics.count("unreadable_rows", row.partition(" ")[0])
            _log.warning("%d rows of other replicas cannot be read and are skipped", len(new))
        self._unreadable = rows


def _differ(before: SessionSnapshot | None, now: SessionSnapshot) -> bool:
    return before is None or (before.state, before.reason, before.confidence) != (
        now.state,
        now.reason,
        now.confidence,
    )
