import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import create_engine, text

from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import enroll
from acclock.matching.template import Template
from acclock.values import FloatArray, Recording
from acclock.vault.backup import restore
from acclock.vault.keys import KeyFile
from acclock.vault.opening import accept_state, open_vault
from acclock.vault.vault import Vault

START = datetime(2025, 1, 6, 8, tzinfo=UTC)
WIDTH = 16


class Clock:
    """Each look is a second later."""

    def __init__(self) -> None:
        self.ticks = count()

    def __call__(self) -> datetime:
        return START + timedelta(seconds=next(self.ticks))


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a vault is, and how it is opened."""

    folder: Path
    url: str | None = None

    @property
    def keys(self) -> KeyFile:
        return KeyFile(self.folder / "vault.key")

    def open(self, *, patience_s: float = 5.0, create: bool = True) -> Vault:
        return open_vault(
            self.folder,
            url=self.url,
            key_store=self.keys,
            clock=Clock(),
            patience_s=patience_s,
            create=create,
        )

    def accept(self) -> Vault:
        return accept_state(self.folder, url=self.url, key_store=self.keys, clock=Clock())

    def restore(self, backup: Path) -> Vault:
        return restore(backup, self.folder, url=self.url, key_store=self.keys, clock=Clock())


class Hearts:
    """Templates of people who do not exist."""

    def __init__(self, seed: int = 1) -> None:
        self.rng = np.random.default_rng(seed)
        self.cohort = Cohort(embeddings=self.directions(200), model="toy")

    def directions(self, number: int) -> FloatArray:
        rows = self.rng.normal(size=(number, WIDTH))
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    def windows(self, direction: FloatArray, number: int) -> FloatArray:
        rows = direction + self.rng.normal(size=(number, WIDTH)) * 0.1
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    def template(self) -> Template:
        return enroll(self.windows(self.directions(1)[0], 30), cohort=self.cohort, now=START)

    def recording(self) -> Recording:
        samples, received = self.rng.normal(size=(3, 500)), self.rng.random(500) > 0.1
        return Recording(samples=samples, rate_hz=100.0, received=received, start=START, ear="left")


@pytest.fixture
def hearts() -> Hearts:
    return Hearts()


@pytest.fixture
def same_template() -> Callable[[Template, Template], bool]:
    def compare(one: Template, other: Template) -> bool:
        return bool(
            np.allclose(one.center, other.center, atol=1e-12)
            and np.allclose(one.anchor, other.anchor, atol=1e-12)
            and np.array_equal(one.user_distances, other.user_distances)
            and (one.threshold, one.model, one.rule, one.goal, one.spread)
            == (other.threshold, other.model, other.rule, other.goal, other.spread)
            and (one.enrolled, one.updated) == (other.enrolled, other.updated)
        )

    return compare


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A place for a vault, on one database and on the other."""
    if request.param == "sqlite":
        yield Place(folder=tmp_path / "vault")
        return
    server, name = request.getfixturevalue("postgres"), f"vault_{os.urandom(6).hex()}"
    engine = create_engine(server)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    yield Place(folder=tmp_path / "vault", url=f"{server}&options=-csearch_path%3D{name}")
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
    engine.dispose()


@pytest.fixture
def files(tmp_path: Path) -> Place:
    """A place for a vault in SQLite."""
    return Place(folder=tmp_path / "vault")
