"""An open vault: keys, transactions, and writers whose commits are grouped."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from threading import Lock, RLock
from typing import Any, Generic, Self, TypeVar

from sqlalchemy import Connection, Engine, Row, select

from acclock.errors import DamagedVaultError, VaultError
from acclock.vault import database
from acclock.vault.audit import HeadFile, LastSeenEvent
from acclock.vault.keys import KeyStore
from acclock.vault.names import KnownNames
from acclock.vault.reserve import Reserve
from acclock.vault.schema import vaults
from acclock.vault.sealing import same
from acclock.vault.transaction import SecretKeys, VaultTransaction, open_secret_keys

Result = TypeVar("Result")

_INTERRUPTED = "the writing was interrupted; look whether it is stored before trying again"

Door = Callable[[], AbstractContextManager[VaultTransaction]]
"""Opens a transaction that is on the disk once it has ended without an error."""


@dataclass(frozen=True, slots=True, eq=False)
class _Turn(Generic[Result]):
    work: Callable[[VaultTransaction], Result]
    answer: Future[Result]


class GroupCommit:
    """Does what several threads want written; each hears back when its own is on the disk.

    The first to come writes at once. Whoever comes meanwhile waits, and the next to go in writes
    for all who wait by then: nobody waits for company.
    """

    def __init__(self, door: Door) -> None:
        self._door = door
        self._waiting: deque[_Turn[Any]] = deque()
        self._inside = Lock()

    def submit(self, work: Callable[[VaultTransaction], Result]) -> Result:
        """Do some work in a transaction, perhaps one shared with others; give what it gave.

        When anybody's work is refused, nothing of the shared transaction stays, and each goes
        in alone: so the work may be done twice, and nobody hears of another's refusal.
        """
        turn = _Turn(work, Future())
        self._waiting.append(turn)
        with self._inside:
            if not turn.answer.done():
                self._settle([self._waiting.popleft() for _ in range(len(self._waiting))])
        return turn.answer.result()

    def _settle(self, commits: Sequence[_Turn[Any]]) -> None:
        try:
            if not self._write_together(commits):
                for turn in commits:
                    self._write_alone(turn)
        finally:  # the thread that writes was interrupted: the others must not wait forever
            for turn in commits:
                if not turn.answer.done():
                    turn.answer.set_exception(VaultError(_INTERRUPTED))

    def _write_together(self, commits: Sequence[_Turn[Any]]) -> bool:
        """Write for all, and tell whether it is settled: not when somebody's work was refused."""
        if len(commits) == 1:
            return False
        results: list[Any] = []
        try:
            with self._door() as transaction:
                results += [turn.work(transaction) for turn in commits]
        except Exception as error:  # noqa: BLE001 - raised again by those whose turn it is
            for turn in commits if results else ():  # the commit failed, and so did everybody
                turn.answer.set_exception(error)
            return bool(results)
        for turn, result in zip(commits, results, strict=True):
            turn.answer.set_result(result)
        return True

    def _write_alone(self, turn: _Turn[Any]) -> None:
        try:
            with self._door() as transaction:
                result = turn.work(transaction)
        except Exception as refusal:  # noqa: BLE001 - raised again by whose turn it is
            turn.answer.set_exception(refusal)
        else:
            turn.answer.set_result(result)


_THE_ROW = select(vaults)


class VaultConnection:
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
        self._commits = GroupCommit(self.writing)
        self._known_names = KnownNames()
        self._opened: tuple[tuple[object, ...], bytes, SecretKeys] | None = None

    @contextmanager
    def reading(self) -> Iterator[VaultTransaction]:
        """Look at the vault as it is at one moment."""
        self._require_file()
        with database.reading(self.engine) as connection:
            yield self.enter(connection)

    @contextmanager
    def writing(self) -> Iterator[VaultTransaction]:
        """Change the vault, alone; what was changed is on the disk afterwards."""
        self._require_file()
        with self._writers, database.writing(self.engine) as connection:
            transaction = self.enter(connection)
            before = transaction.events
            yield transaction
            transaction.write_log()
        if transaction.events != before:
            self.remember(transaction)

    def write(self, work: Callable[[VaultTransaction], Result]) -> Result:
        """Change the vault by some work, which may share its commit with that of other threads."""
        return self._commits.submit(work)

    def remember(self, transaction: VaultTransaction) -> None:
        """Write down beside the database how long the log is now."""
        seen = LastSeenEvent(events=transaction.events, head=transaction.head)
        self.head_file.write(transaction.vault, transaction.keys.auditing, seen)

    def enter(self, connection: Connection) -> VaultTransaction:
        """Open the one row of the vault, and check that nobody tampered with it."""
        rows = connection.execute(_THE_ROW).all()
        if len(rows) != 1:
            raise DamagedVaultError(f"the database holds {len(rows)} vaults; it should hold one")
        row = rows[0]
        master, keys = self._keys_for(row)
        transaction = VaultTransaction(
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
        if not same(row.mark, transaction.expected_mark()):
            raise DamagedVaultError("the vault was changed by someone without its key")
        return transaction

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
