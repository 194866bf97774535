"""People to evaluate on, and something that tells them apart a little."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from acclock.embedding.card import Card, hash_person
from acclock.experiments.gallery import Gallery
from acclock.recordings.simulated import SimulatedCohort, write_cohort
from acclock.simulation import Scene
from acclock.values import FloatArray

PEOPLE = 5

CARD = Card(
    name="bands",
    version="1",
    network="none",
    config={},
    rate_hz=100.0,
    axes=3,
    window_length=400,
    embedding_width=36,
    preparation="bandpass",
    denoiser="",
    training_data=(),
    people=(),
    license="Apache-2.0",
)


class Bands:
    """Embeds a window by the log energy of twelve bands of each axis."""

    fingerprint = "bands-1"
    _EDGES = np.geomspace(3, 160, 13).astype(int)[:-1]

    def __init__(self, *, learned_from: tuple[str, ...] = ()) -> None:
        self.card = replace(CARD, people=tuple(hash_person(name) for name in learned_from))

    def embed(self, windows: NDArray[np.floating[Any]]) -> FloatArray:
        powers = np.abs(np.fft.rfft(windows)) ** 2
        logs = np.log(np.add.reduceat(powers, self._EDGES, axis=-1) + 1e-12)
        rows = logs.reshape(len(windows), -1) - logs.mean(axis=(1, 2))[:, np.newaxis]
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.fixture(scope="session")
def bands() -> type[Bands]:
    return Bands


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five people who do not exist, twice each, for long enough."""
    folder = tmp_path_factory.mktemp("people") / "all"
    write_cohort(SimulatedCohort(scene=Scene(duration_s=80.0), people=PEOPLE, sessions=2), folder)
    return folder


MakeGallery = Callable[..., Gallery]


@pytest.fixture
def make_gallery() -> MakeGallery:
    """Windows around one direction per person, with so many windows in each recording."""

    def make(*people: list[int], scatter: float = 0.3, seed: int = 0) -> Gallery:
        rng = np.random.default_rng(seed)
        counts = [count for recordings in people for count in recordings]
        wearers = np.repeat(np.arange(len(people)), [sum(recordings) for recordings in people])
        rows = rng.normal(size=(len(people), 24))[wearers]
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows + scatter * rng.normal(size=rows.shape)
        return Gallery(
            embeddings=rows / np.linalg.norm(rows, axis=1, keepdims=True),
            wearers=wearers,
            recordings=np.repeat(np.arange(len(counts)), counts),
        )

    return make
