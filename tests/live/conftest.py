"""A user, strangers, and sessions that hear whom they are told to hear."""

from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import pytest

from acclock.denoising.heart_rate import HeartRate
from acclock.denoising.quality import Disturbance, WindowQuality
from acclock.live.policies import BALANCED, Policy
from acclock.live.session import Session
from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import enroll
from acclock.matching.template import Template
from acclock.pipeline import Preparation
from acclock.values import FloatArray

WIDTH = 16


def around(direction: FloatArray, count: int, *, seed: int, spread: float = 0.08) -> FloatArray:
    rows = direction + spread * np.random.default_rng(seed).standard_normal((count, WIDTH))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.fixture(scope="session")
def user() -> FloatArray:
    return np.eye(WIDTH)[0]


@pytest.fixture(scope="session")
def stranger() -> FloatArray:
    return np.eye(WIDTH)[1]


@pytest.fixture(scope="session")
def cohort() -> Cohort:
    return Cohort(
        embeddings=np.vstack([around(np.eye(WIDTH)[n], 20, seed=n) for n in range(2, WIDTH)]),
        model="test",
    )


@pytest.fixture(scope="session")
def template(user: FloatArray, cohort: Cohort) -> Template:
    enrolled = datetime(2025, 1, 6, tzinfo=UTC)
    return enroll(around(user, 80, seed=99), cohort=cohort, now=enrolled)


class Wearer:
    """Embeds every window as that of whoever wears the earphone now."""

    def __init__(self, direction: FloatArray) -> None:
        self.direction = direction
        self._chance = np.random.default_rng(5)

    def __call__(self, windows: FloatArray) -> FloatArray:
        rows = self.direction + 0.08 * self._chance.standard_normal((len(windows), WIDTH))
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.fixture
def wearer(user: FloatArray) -> Wearer:
    return Wearer(user)


@pytest.fixture
def open_session(template: Template, cohort: Cohort, wearer: Wearer) -> Callable[[Policy], Session]:
    def make(policy: Policy = BALANCED, *, rate_hz: float = 100.0) -> Session:
        preparation = Preparation(name="bandpass", rate_hz=rate_hz)
        return Session(template, cohort, preparation, wearer, policy, person="anna")

    return make


def quality(disturbance: Disturbance = "none", *, missing: float = 0.0) -> WindowQuality:
    return WindowQuality(
        heart_rate=HeartRate(bpm=70.0, clarity=0.9, needed_clarity=0.3, rms=0.1),
        regularity=0.9,
        beat_to_noise_db=10.0,
        fluctuation=1.0,
        saturated_share=0.0,
        missing_share=missing,
        disturbance=disturbance,
    )


@pytest.fixture(scope="session")
def qualities() -> Callable[..., WindowQuality]:
    return quality
