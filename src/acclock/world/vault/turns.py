"""Writers who wait at the same time go in together: one commit, and one sync, for all of them."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, TypeVar

from acclock.errors import VaultError
from acclock.world.vault.visit import Visit

Result = TypeVar("Result")

_INTERRUPTED = "the writing was interrupted; look whether it is stored before trying again"

Door = Callable[[], AbstractContextManager[Visit]]
"""Opens a transaction that is on the disk once it has ended without an error."""


@dataclass(frozen=True, slots=True, eq=False)
class _Turn(Generic[Result]):
    work: Callable[[Visit], Result]
    answer: Future[Result]


class Turns:
    """Does what several threads want written; each hears back when its own is on the disk.

    The first to come writes at once. Whoever comes meanwhile waits, and the next to go in writes
    for all who wait by then: nobody waits for company.
    """

    def __init__(self, door: Door) -> None:
        self._door = door
        self._waiting: deque[_Turn[Any]] = deque()
        self._inside = Lock()

    def take(self, work: Callable[[Visit], Result]) -> Result:
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

    def _settle(self, turns: Sequence[_Turn[Any]]) -> None:
        try:
            if not self._write_together(turns):
                for turn in turns:
                    self._write_alone(turn)
        finally:  # the thread that writes was interrupted: the others must not wait forever
            for turn in turns:
                if not turn.answer.done():
                    turn.answer.set_exception(VaultError(_INTERRUPTED))

    def _write_together(self, turns: Sequence[_Turn[Any]]) -> bool:
        """Write for all, and tell whether it is settled: not when somebody's work was refused."""
        if len(turns) == 1:
            return False
        results: list[Any] = []
        try:
            with self._door() as visit:
                results += [turn.work(visit) for turn in turns]
        except Exception as error:  # noqa: BLE001 - raised again by those whose turn it is
            for turn in turns if results else ():  # the commit failed, and so did everybody
                turn.answer.set_exception(error)
            return bool(results)
        for turn, result in zip(turns, results, strict=True):
            turn.answer.set_result(result)
        return True

    def _write_alone(self, turn: _Turn[Any]) -> None:
        try:
            with self._door() as visit:
                result = turn.work(visit)
        except Exception as refusal:  # noqa: BLE001 - raised again by whose turn it is
            turn.answer.set_exception(refusal)
        else:
            turn.answer.set_result(result)
