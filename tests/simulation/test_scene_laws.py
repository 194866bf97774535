"""What holds for every simulated wearing, whatever happens in it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acclock.denoising.bandpass import bandpass
from acclock.denoising.beats import find_beats
from acclock.errors import ConfigError
from acclock.simulation import Condition, Movement, Scene, draw_person, simulate
from acclock.values import STANDARD_GRAVITY

SCENES = st.builds(
    Scene,
    duration_s=st.just(12.0),
    session=st.integers(0, 3),
    device=st.sampled_from(["prototype", "airpods"]),
    posture=st.sampled_from(["sitting", "reclining", "lying", "standing"]),
    movement=st.sampled_from(["still", "blink", "head-shake", "talk", "walk", "run"]),
    music=st.sampled_from(["off", "low", "medium", "high"]),
    environment=st.sampled_from(["classroom", "station", "playground"]),
    week=st.floats(0, 8),
    angle_deg=st.floats(0, 90),
    packet_loss=st.floats(0, 0.3),
)
ANNA = draw_person(0)


@settings(max_examples=25)
@given(scene=SCENES, seed=st.integers(0, 99))
def test_the_recording_is_the_truth_plus_the_disturbance(scene: Scene, seed: int) -> None:
    worn = simulate(ANNA, scene, seed=seed)

    heard = worn.recording.received
    assert worn.recording.samples.shape == worn.truth.shape == (3, scene.count)
    np.testing.assert_allclose(
        worn.recording.samples[:, heard], (worn.truth + worn.disturbance)[:, heard], atol=1e-9
    )
    assert (worn.recording.samples[:, ~heard] == 0.0).all()


@settings(max_examples=10)
@given(scene=SCENES, seed=st.integers(0, 99))
def test_one_seed_gives_one_recording(scene: Scene, seed: int) -> None:
    first, second = (simulate(ANNA, scene, seed=seed).recording.samples for _ in range(2))

    np.testing.assert_array_equal(first, second)


def test_another_seed_keeps_the_mounting_and_changes_the_noise() -> None:
    first, second = (simulate(ANNA, Scene(), seed=seed) for seed in (1, 2))

    assert not np.array_equal(first.recording.samples, second.recording.samples)
    directions = [worn.recording.samples.mean(axis=1) for worn in (first, second)]
    assert float(np.dot(*directions)) / STANDARD_GRAVITY**2 > 0.99


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_packets_are_lost_at_the_wanted_share(share: float) -> None:
    worn = simulate(ANNA, Scene(duration_s=300.0, packet_loss=share))

    assert worn.recording.missing_share == pytest.approx(share, abs=0.04)


def test_a_heart_is_not_felt_on_the_table() -> None:
    worn = simulate(ANNA, Scene(duration_s=40.0, removed_at_s=20.0))

    late = slice(2500, None)
    assert np.abs(worn.truth[:, late]).max() == 0.0
    assert worn.recording.samples[:, late].std(axis=1).max() < 0.06
    assert worn.beat_times_s.max() < 20.0


@pytest.mark.parametrize(
    ("condition", "low", "high"),
    [("healthy", 45, 100), ("bradycardia", 35, 60), ("tachycardia", 95, 140)],
)
def test_heart_rates_are_those_of_the_condition(
    condition: Condition, low: float, high: float
) -> None:
    for index in range(6):
        worn = simulate(draw_person(index, condition=condition), Scene(duration_s=60.0))
        assert low < 60.0 / np.diff(worn.beat_times_s).mean() < high


def test_premature_beats_come_early_now_and_then() -> None:
    person = draw_person(1, condition="premature")
    intervals = np.diff(simulate(person, Scene(duration_s=300.0)).beat_times_s)

    early = intervals < 0.8 * np.median(intervals)
    assert 0.005 < early.mean() < 0.4


def test_people_drift_away_from_themselves_week_by_week() -> None:
    beats = [simulate(ANNA, Scene(week=week)).truth for week in (0.0, 2.0, 8.0)]

    likeness = [np.corrcoef(beats[0].ravel(), beat.ravel())[0, 1] for beat in beats[1:]]
    assert 1.0 > likeness[0] > likeness[1]


@pytest.mark.parametrize(
    ("calmer", "livelier"), [("still", "head-shake"), ("blink", "talk"), ("head-shake", "run")]
)
def test_movements_are_ordered_by_strength(calmer: Movement, livelier: Movement) -> None:
    strengths = [
        bandpass(simulate(ANNA, Scene(movement=movement)).disturbance, rate_hz=100.0).std()
        for movement in (calmer, livelier)
    ]

    assert strengths[0] < strengths[1]


def test_the_detector_finds_the_beats_that_are_there() -> None:
    found, missed, invented = 0, 0, 0
    for index in range(6):
        worn = simulate(draw_person(index, seed=5), Scene(duration_s=60.0))
        axis = int(np.argmax(worn.truth.std(axis=1)))
        beats = find_beats(bandpass(worn.recording.samples[axis], rate_hz=100.0), 100.0)
        offset = np.median(
            [b - worn.beat_times_s[np.abs(worn.beat_times_s - b).argmin()] for b in beats]
        )
        gaps = np.abs(worn.beat_times_s[:, None] + offset - beats).min(axis=1)
        found += int((gaps < 0.04).sum())
        missed += int((gaps >= 0.04).sum())
        invented += max(0, len(beats) - len(worn.beat_times_s))

    assert found / (found + missed) > 0.85
    assert invented < 0.05 * found


@pytest.mark.parametrize(
    "wrong",
    [
        {"duration_s": 0.0},
        {"angle_deg": 91.0},
        {"packet_loss": 1.0},
        {"movement": "fly"},
        {"removed_at_s": 99.0},
        {"session": -1},
    ],
)
def test_a_scene_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        Scene(**wrong)  # type: ignore[arg-type]
