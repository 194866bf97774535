"""Rows that were refused: each is counted once and named in the vault's log."""

import logging
import time
from collections import Counter
from threading import Lock

from acclock.errors import AccLockError
from acclock.world.service.metrics import Metrics
from acclock.world.vault.vault import Vault

_EVERY_S = 60.0
"""One event for each table in so long: inserting rows must not flood the log."""
_MOST_KNOWN = 10_000

_log = logging.getLogger(__name__)


class RefusedRows:
    """The rows that one process refused. Threads may share it."""

    def __init__(self, vault: Vault, metrics: Metrics | None) -> None:
        self._vault, self._metrics = vault, metrics
        self._lock = Lock()
        self._known: set[tuple[str, ...]] = set()
        self._unaudited: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._audited_s: dict[str, float] = {}

    def add(self, table: str, row: str, mac: str, *, why: str) -> None:
        """Count a row that was refused, unless this very row was before."""
        with self._lock:
            if (table, row, mac, why) in self._known:
                return
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known.add((table, row, mac, why))
            self._unaudited[table] += 1
            self._first.setdefault(table, f"{row}: {why}")
        if self._metrics is not None:
            self._metrics.count("refused_rows", table.removeprefix("acclock_"))

    def audit(self) -> None:
        """Write what is new into the vault's log; outside of any transaction."""
        notes = self._take_notes()
        if not notes:
            return
        _log.warning("rows of the database were refused: %s", "; ".join(notes))
        try:
            with self._vault.writing() as visit:
                for note in notes:
                    visit.log("row refused", note=note)
        except AccLockError as error:  # the rows are refused all the same
            _log.warning("%s", error)

    def _take_notes(self) -> list[str]:
        with self._lock:
            now_s, notes = time.monotonic(), list[str]()
            for table in list(self._unaudited):
                if now_s - self._audited_s.get(table, -_EVERY_S) >= _EVERY_S:
                    others = self._unaudited.pop(table) - 1
                    more = f" and {others} more" if others else ""
                    notes.append(f"{table} {self._first.pop(table)}{more}")
                    self._audited_s[table] = now_s
            return notes
