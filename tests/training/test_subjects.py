"""Who is learned from and who judges."""

import numpy as np

from acclock.training.grid import Grid
from acclock.training.subjects import Subject, SubjectSession, deal
from acclock.values import Recording


def make(name: str, sessions: int, *, source: str = "set") -> Subject:
    recording = Recording(samples=np.zeros((3, 400)), rate_hz=100.0)
    windows = np.zeros((20, 3, 400), dtype=np.float32)
    session = SubjectSession(recording=recording, grid=Grid(windows=windows, ends=np.arange(20)))
    return Subject(name=name, source=source, sessions=(session,) * sessions)


def test_folds_are_as_even_as_can_be() -> None:
    people = [make(f"p{n}", 2) for n in range(20)]

    folds = deal(people, folds=3, seed=0)

    assert sorted(np.bincount(list(folds.values()))) == [6, 7, 7]


def test_who_came_once_is_always_learned_from() -> None:
    people = [make(f"twice{n}", 2) for n in range(6)] + [make(f"once{n}", 1) for n in range(4)]

    folds = deal(people, folds=3, seed=0)

    assert {name for name, fold in folds.items() if fold == -1} == {f"once{n}" for n in range(4)}


def test_where_too_few_came_twice_everybody_is_dealt() -> None:
    people = [make(f"twice{n}", 2) for n in range(3)] + [make(f"once{n}", 1) for n in range(6)]

    assert -1 not in deal(people, folds=3, seed=0).values()
