from datetime import UTC, datetime

import numpy as np
import pytest

from acclock.matching.coaching import measure_widest
from acclock.matching.cohort import Cohort, StrangerKind, measure_levels
from acclock.values import FloatArray

WIDTH = 32


class Crowd:
    """People as directions among embeddings; windows scatter around them."""

    def __init__(self, seed: int, *, scatter: float = 0.7) -> None:
        self.rng = np.random.default_rng(seed)
        self.scatter = scatter

    def person(self) -> FloatArray:
        direction = self.rng.normal(size=WIDTH)
        return np.asarray(direction / np.linalg.norm(direction))

    def windows(self, person: FloatArray, count: int) -> FloatArray:
        noise = self.rng.normal(size=(count, WIDTH)) * self.scatter / np.sqrt(WIDTH)
        rows = person + noise
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    def cohort(self, people: int = 40, each: int = 15) -> Cohort:
        rows = np.vstack([self.windows(self.person(), each) for _ in range(people)])
        worn = self.worn_twice()
        widest, levels = measure_widest(worn), measure_levels(worn)
        kind = StrangerKind(name="toys", count=len(rows), widest=widest, levels=levels)
        return Cohort(embeddings=rows, model="toy", kinds=(kind,))

    def worn_twice(self) -> list[list[FloatArray]]:
        """People who sit in the one session and lie in the other."""
        others = Crowd(0, scatter=self.scatter)
        people = []
        for _ in range(60):
            sitting = others.person()
            lying = sitting + 0.5 * others.person()
            lying /= np.linalg.norm(lying)
            people.append([others.windows(sitting, 20), others.windows(lying, 20)])
        return people


@pytest.fixture
def crowd() -> type[Crowd]:
    return Crowd


@pytest.fixture
def now() -> datetime:
    return datetime(2025, 1, 6, 8, tzinfo=UTC)
