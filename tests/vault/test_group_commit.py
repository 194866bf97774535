import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, cast

import pytest

from acclock.errors import NameRefusedError, VaultError
from acclock.vault.connection import GroupCommit

if TYPE_CHECKING:
    from acclock.vault.transaction import VaultTransaction

Work = Callable[["VaultTransaction"], str]


class Room:
    """A transaction that keeps what was written when it ends, and may fail at its end."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.commits = 0
        self.failures: list[BaseException] = []

    @contextmanager
    def door(self) -> "Iterator[VaultTransaction]":
        page: list[str] = []
        yield cast("VaultTransaction", page)
        if self.failures and len(page) > 1:
            raise self.failures.pop()
        self.kept += page
        self.commits += 1


def writes(word: str) -> Work:
    def work(transaction: "VaultTransaction") -> str:
        cast("list[str]", transaction).append(word)
        return word.upper()

    return work


def refuses(transaction: "VaultTransaction") -> str:
    cast("list[str]", transaction).append("half")
    raise NameRefusedError("no")


def take_together(group: GroupCommit, works: list[Work]) -> list[Future[str]]:
    """Let one writer dwell inside until all others wait at the door."""
    entered, leave = Event(), Event()

    def dwell(transaction: "VaultTransaction") -> str:
        entered.set()
        leave.wait(10)
        return writes("first")(transaction)

    with ThreadPoolExecutor(len(works) + 1) as threads:
        first = threads.submit(group.submit, dwell)
        entered.wait(10)
        others = [threads.submit(group.submit, work) for work in works]
        while len(group._waiting) < len(works):
            time.sleep(0.001)
        leave.set()
        assert first.result() == "FIRST"
    return others


def test_all_who_wait_share_one_commit() -> None:
    room = Room()

    answers = take_together(GroupCommit(room.door), [writes(word) for word in "abcde"])

    assert [answer.result() for answer in answers] == list("ABCDE")
    assert sorted(room.kept) == ["a", "b", "c", "d", "e", "first"]
    assert room.commits == 2


def test_one_refusal_is_nobody_elses_and_leaves_nothing() -> None:
    room = Room()

    answers = take_together(GroupCommit(room.door), [writes("a"), refuses, writes("b")])

    assert (answers[0].result(), answers[2].result()) == ("A", "B")
    assert isinstance(answers[1].exception(), NameRefusedError)
    assert sorted(room.kept) == ["a", "b", "first"]


def test_a_commit_that_fails_fails_for_everybody_and_is_not_tried_again() -> None:
    room = Room()
    room.failures = [VaultError("the disk is full; nothing was changed")]

    answers = take_together(GroupCommit(room.door), [writes("a"), writes("b")])

    assert all("full" in str(answer.exception()) for answer in answers)
    assert room.kept == ["first"]


def test_an_interrupted_writer_leaves_nobody_waiting() -> None:
    room = Room()
    room.failures = [KeyboardInterrupt()]

    answers = take_together(GroupCommit(room.door), [writes("a"), writes("b")])

    errors = [answer.exception() for answer in answers]
    assert sorted(type(error).__name__ for error in errors) == ["KeyboardInterrupt", "VaultError"]
    assert room.kept == ["first"]


def test_one_writer_after_another_has_a_commit_each() -> None:
    room = Room()
    group = GroupCommit(room.door)

    for word in "abc":
        group.submit(writes(word))

    assert (room.kept, room.commits) == (["a", "b", "c"], 3)
    with pytest.raises(NameRefusedError):
        group.submit(refuses)
