"""How one gets into a vault and out again: keys, transactions, and what was last seen."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import RLock
from typing import Any, Self

from sqlalchemy import Connection, Engine, Row, select

from acclock.errors import DamagedVaultError, VaultError
from acclock.world.vault import database
from acclock.world.vault.head import HeadFile, Seen
from acclock.world.vault.keys import KeyStore
from acclock.world.vault.known_names import KnownNames
from acclock.world.vault.reserve import Reserve
from acclock.world.vault.sealing import same
from acclock.world.vault.secret_keys import SecretKeys, open_secret_keys
from acclock.world.vault.tables import vaults
from acclock.world.vault.turns import Result, Turns
from acclock.world.vault.visit import Visit

_THE_ROW = select(vaults)


class Chamber:
    """A database, the keys to it, a clock, and a file that remembers the last event."""

    def __init__(
        self,
        *,
        engine: Engine,
        key_store: KeyStore,
        head_file: HeadFile,
        clock: Callable[[], datetime],
    ) -> None:
        self.engine = engine
        self.key_store = key_store
        self.head_file = head_file
        self.clock = clock
        self._file = database.identify_file(engine)
        self.reserve = Reserve.of(engine)
        self._writers = RLock()  # threads queue up here; the database would let them try their luck
        self._turns = Turns(self.writing)
        self._known_names = KnownNames()
        self._opened: tuple[tuple[object, ...], bytes, SecretKeys] | None = None

    @contextmanager
    def reading(self) -> Iterator[Visit]:
        """Look at the vault as it is at one moment."""
        self._require_file()
        with database.reading(self.engine) as connection:
            yield self.enter(connection)

    @contextmanager
    def writing(self) -> Iterator[Visit]:
        """Change the vault, alone; what was changed is on the disk afterwards."""
        self._require_file()
        with self._writers, database.writing(self.engine) as connection:
            visit = self.enter(connection)
            before = visit.events
            yield visit
            visit.write_log()
        if visit.events != before:
            self.remember(visit)

    def write(self, work: Callable[[Visit], Result]) -> Result:
        """Change the vault by some work, which may share its commit with that of other threads."""
        return self._turns.take(work)

    def remember(self, visit: Visit) -> None:
        """Write down beside the database how long the log is now."""
        seen = Seen(events=visit.events, head=visit.head)
        self.head_file.write(visit.vault, visit.keys.auditing, seen)

    def enter(self, connection: Connection) -> Visit:
        """Open the one row of the vault, and check that nobody tampered with it."""
        rows = connection.execute(_THE_ROW).all()
        if len(rows) != 1:
            raise DamagedVaultError(f"the database holds {len(rows)} vaults; it should hold one")
        row = rows[0]
        master, keys = self._keys_for(row)
        visit = Visit(
            connection=connection,
            vault=row.vault,
            master_name=row.master,
            master=master,
            keys=keys,
            people=row.people,
            events=row.events,
            head=row.head,
            now=self.clock(),
            known_names=self._known_names,
        )
        if not same(row.mark, visit.expected_mark()):
            raise DamagedVaultError("the vault was changed by someone without its key")
        return visit

    def _keys_for(self, row: Row[Any]) -> tuple[bytes, SecretKeys]:
        """Give the keys to the vault; fetched anew only when somebody changed them."""
        lock = (row.vault, row.master, row.secrets)
        if self._opened is None or self._opened[0] != lock:
            stored = self.key_store.read()
            if (master := stored.get(row.master)) is None:
                raise VaultError(
                    "the key to this vault is not there; it cannot be opened without it"
                    if not stored
                    else "the stored key is not the key to this vault"
                )
            keys = open_secret_keys(row.secrets, master, row.vault, row.master)
            self._opened = lock, master, keys
        return self._opened[1], self._opened[2]

    def _require_file(self) -> None:
        """Refuse to go on with a file that was removed: an open one is read as if it were there."""
        if self._file is not None and database.identify_file(self.engine) != self._file:
            raise VaultError(
                f"the vault is gone: {self.engine.url.database} was removed or replaced "
                "while it was open"
            )

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
