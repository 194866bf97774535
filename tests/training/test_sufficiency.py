"""Whether a training on few people is warned of."""

import numpy as np
import pytest

from acclock.training.grid import Grid
from acclock.training.subjects import ENOUGH_PEOPLE, Subject, SubjectSession, find_shortfalls
from acclock.values import Recording


def make_people(source: str, count: int, *, sessions: int = 2) -> list[Subject]:
    grid = Grid(windows=np.zeros((20, 3, 400), dtype=np.float32), ends=np.arange(20))
    recording = Recording(samples=np.zeros((3, 400)), rate_hz=100.0)
    held = (SubjectSession(recording=recording, grid=grid),) * sessions
    return [Subject(name=f"{source}/{n}", source=source, sessions=held) for n in range(count)]


@pytest.mark.parametrize(
    ("people", "found"),
    [
        (make_people("own", ENOUGH_PEOPLE), []),
        (make_people("own", ENOUGH_PEOPLE - 1), ["own has 19 people"]),
        (make_people("own", 6), ["own has 6 people"]),
        (make_people("own", 6) + make_people("simulated", 40), ["own has 6 people"]),
        (make_people("b", 1) + make_people("a", 2), ["a has 2 people", "b has 1 people"]),
        (make_people("own", ENOUGH_PEOPLE, sessions=1), ["20 of 20 people of own"]),
        (
            make_people("own", 5) + make_people("own", 3, sessions=1),
            ["own has 8 people", "3 of 8 people of own"],
        ),
    ],
)
def test_what_is_lacking_is_said_for_each_data_set(people: list[Subject], found: list[str]) -> None:
    sentences = find_shortfalls(people)

    assert [sentence[: len(start)] for sentence, start in zip(sentences, found, strict=True)] == (
        found
    )
