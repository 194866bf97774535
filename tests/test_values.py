import pickle
from dataclasses import fields
from datetime import UTC, datetime

import numpy as np
import pytest

from acclock.errors import SignalError
from acclock.values import Recording


def test_a_recording_cannot_be_changed() -> None:
    mine = np.ones((3, 5))
    recording = Recording(samples=mine, rate_hz=100.0, labels={"posture": "sitting"})

    mine[0, 0] = 7.0

    assert recording.samples[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        recording.samples[0, 0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        recording.received[0] = False
    with pytest.raises(TypeError):
        recording.labels["posture"] = "lying"  # type: ignore[index]


def test_what_was_not_received_is_zero_even_when_it_was_nan() -> None:
    samples = np.full((3, 4), 2.0)
    samples[:, 1] = np.nan

    recording = Recording(
        samples=samples, rate_hz=50.0, received=np.array([True, False, True, True])
    )

    assert recording.samples[0].tolist() == [2.0, 0.0, 2.0, 2.0]
    assert recording.missing_share == 0.25
    assert recording.duration_s == 0.08


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"samples": np.ones((2, 4))}, "three axes"),
        ({"samples": np.ones(4)}, "three axes"),
        ({"samples": np.full((3, 4), np.inf)}, "finite"),
        ({"rate_hz": 0.0}, "positive"),
        ({"rate_hz": float("nan")}, "positive"),
        ({"received": np.ones(3, bool)}, "mask"),
        ({"start": datetime(2026, 1, 1)}, "time zone"),  # noqa: DTZ001
    ],
)
def test_a_recording_that_cannot_be_is_refused(wrong: dict[str, object], sentence: str) -> None:
    right: dict[str, object] = {"samples": np.ones((3, 4)), "rate_hz": 100.0}

    with pytest.raises(SignalError, match=sentence):
        Recording(**(right | wrong))  # type: ignore[arg-type]


def test_an_empty_recording_is_allowed_and_misses_nothing() -> None:
    empty = Recording(samples=np.ones((3, 0)), rate_hz=1.0, start=datetime(2026, 1, 1, tzinfo=UTC))

    assert len(empty) == 0
    assert empty.missing_share == 0.0


def test_a_recording_travels_to_another_process_unchanged() -> None:
    samples = np.random.default_rng(4).normal(size=(3, 6))
    received = np.array([True, True, False, True, True, True])
    recording = Recording(
        samples=samples,
        rate_hz=75.0,
        received=received,
        start=datetime(2026, 1, 1, tzinfo=UTC),
        person="anna",
        ear="left",
        labels={"posture": "sitting"},
    )

    back = pickle.loads(pickle.dumps(recording))  # noqa: S301 - made on the same line

    for one in fields(recording):
        np.testing.assert_equal(getattr(back, one.name), getattr(recording, one.name))
    assert not back.samples.flags.writeable
    with pytest.raises(TypeError):
        back.labels["posture"] = "lying"
