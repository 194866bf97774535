import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acclock.denoising.context import mend
from acclock.denoising.sporadic import Reference
from acclock.denoising.stages import denoise
from acclock.errors import ConfigError, SignalError, TooShortError
from acclock.pipeline import (
    Preparation,
    PreparationName,
    PreparedWindow,
    StreamingDenoiser,
    prepare,
    prepare_together,
    trace,
)
from acclock.values import Recording

NAMES: list[PreparationName] = ["two-stage", "paper", "bandpass"]


def wear(seconds: float, *, seed: int = 0, rate_hz: float = 100.0) -> np.ndarray:
    """Three axes of heartbeat, gravity and noise, with a shake of the head every ten seconds."""
    draw = np.random.default_rng(seed)
    time_s = np.arange(round(seconds * rate_hz)) / rate_hz
    phase = time_s % 0.8
    beats = 0.4 * np.sin(2 * np.pi * 7.0 * phase) * np.exp(-9.0 * phase)
    shakes = 3.0 * np.sin(2 * np.pi * 2.5 * time_s) * (time_s % 10 > 9)
    noise = 0.02 * draw.normal(size=(3, len(time_s)))
    head = np.outer([0.2, 1.0, 0.5], shakes) + 5.0
    return np.asarray(np.outer([1.0, 0.5, 0.3], beats) + head + noise)


def stream(
    samples: np.ndarray, received: np.ndarray, lengths: list[int], denoiser: StreamingDenoiser
) -> list[PreparedWindow]:
    ends = np.minimum(np.cumsum(lengths), samples.shape[-1])
    chunks = zip(np.split(samples, ends, axis=-1), np.split(received, ends, axis=-1), strict=True)
    return [window for chunk, mask in chunks for window in denoiser.push(chunk, mask)]


@settings(max_examples=15)
@given(
    lengths=st.lists(st.integers(0, 900), max_size=12),
    step=st.integers(40, 800),
    loss=st.sampled_from([0.0, 0.1]),
    gap=st.integers(0, 150),
    name=st.sampled_from(NAMES),
)
def test_chunks_of_any_size_give_the_windows_of_the_whole_recording(
    lengths: list[int], step: int, loss: float, gap: int, name: PreparationName
) -> None:
    samples = wear(26.0)
    received = np.random.default_rng(gap).random(2600) >= loss
    received[1500 : 1500 + gap] = False
    recording = Recording(samples=samples, rate_hz=100.0, received=received)
    preparation = Preparation(name=name)
    denoiser = StreamingDenoiser(preparation, step_s=step / 100)

    streamed = stream(samples, received, lengths, denoiser)

    whole = prepare(recording, preparation, step_s=step / 100)
    assert [window.end_s for window in streamed] == [window.end_s for window in whole]
    assert [window.quality for window in streamed] == [window.quality for window in whole]
    for ours, expected in zip(streamed, whole, strict=True):
        np.testing.assert_allclose(ours.samples, expected.samples, atol=1e-12)


def test_a_window_is_cut_from_its_trailing_context_and_the_reference_travels() -> None:
    samples, preparation = wear(60.0), Preparation()
    config = preparation.config

    windows = prepare(Recording(samples=samples, rate_hz=100.0), preparation, step_s=2.0)

    reference = Reference.unknown(3, config)
    for window in windows:
        end = round(window.end_s * 100)
        padded = np.pad(samples[:, max(0, end - 2048) : end], ((0, 0), (max(0, 2048 - end), 0)))
        received = np.arange(2048) >= 2048 - end
        mended, fresh = mend(padded, received, rate_hz=100.0)
        stages = denoise(mended, config, reference)
        reference = stages.reference.forget(np.full(3, fresh < 800))
        np.testing.assert_allclose(window.samples, stages.recovered, atol=1e-12)
    assert reference.known.any()


@pytest.mark.parametrize("name", NAMES)
def test_many_wearers_in_one_call_are_each_as_if_alone(name: PreparationName) -> None:
    crowd = np.stack([wear(26.0, seed=seed) for seed in range(4)]).reshape(2, 2, 3, 2600)
    received = np.ones((2, 2, 2600), dtype=bool)
    received[1, 0, 1200:1300] = False

    together = StreamingDenoiser(Preparation(name=name)).push(crowd, received)

    alone = StreamingDenoiser(Preparation(name=name)).push(crowd[1, 0], received[1, 0])
    assert [window.qualities[2] for window in together] == [window.quality for window in alone]
    for ours, expected in zip(together, alone, strict=True):
        np.testing.assert_allclose(ours.samples[1, 0], expected.samples, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_streams_that_are_prepared_together_are_each_as_if_alone(name: PreparationName) -> None:
    preparation = Preparation(name=name)
    worn = np.stack([wear(30.0, seed=who) for who in range(5)])
    received = np.random.default_rng(9).random((5, 3000)) < 0.97
    received[2, 1500:1580] = False  # one of them begins anew
    streams = [StreamingDenoiser(preparation, step_s=1.0) for _ in worn]

    together: list[list[PreparedWindow]] = [[] for _ in worn]
    for start in range(0, 3000, 150):
        part = slice(start, start + 150)
        gathered = [
            (who, context)
            for who, stream in enumerate(streams)
            for context in stream.gather(worn[who, :, part], received[who, part])
        ]
        windows = prepare_together([context for _, context in gathered])
        for (who, _), window in zip(gathered, windows, strict=True):
            together[who].append(window)

    for who, windows in enumerate(together):
        alone = StreamingDenoiser(preparation, step_s=1.0).push(worn[who], received[who])
        assert [one.end_s for one in windows] == [one.end_s for one in alone]
        assert [one.quality.disturbance for one in windows] == [
            one.quality.disturbance for one in alone
        ]
        for one, other in zip(windows, alone, strict=True):
            np.testing.assert_allclose(one.samples, other.samples, rtol=0, atol=1e-12)


def test_windows_of_two_preparations_are_not_prepared_together() -> None:
    streams = [StreamingDenoiser(Preparation(name=name)) for name in NAMES]
    contexts = [context for stream in streams for context in stream.gather(np.zeros((3, 500)))]

    with pytest.raises(ConfigError, match="share one preparation"):
        prepare_together(contexts)


def test_many_wearers_have_no_one_quality() -> None:
    (window,) = StreamingDenoiser(Preparation()).push(np.zeros((2, 3, 400)))

    with pytest.raises(SignalError, match="2 wearers"):
        _ = window.quality


def test_the_stream_warms_up_and_begins_anew_after_a_long_gap() -> None:
    received = np.ones(4000, dtype=bool)
    received[2000:2060] = False
    recording = Recording(samples=wear(40.0), rate_hz=100.0, received=received)

    windows = prepare(recording, Preparation(), step_s=1.0)

    cold = [window.end_s for window in windows if window.quality.disturbance == "warm-up"]
    assert cold == [4, 5, 6, 7, *range(21, 29)]


@pytest.mark.parametrize(("step_s", "kept"), [(0.25, 4), (0.5, 2), (1.0, 1), (1.5, 1)])
def test_the_heart_rate_is_read_once_a_second(step_s: float, kept: int) -> None:
    windows = prepare(
        Recording(samples=wear(20.0), rate_hz=100.0),
        Preparation(name="bandpass"),
        step_s=step_s,
    )

    rates = [window.quality.heart_rate for window in windows]
    assert all(rates[place] is rates[place - place % kept] for place in range(len(rates)))
    assert len({id(rate) for rate in rates}) == -(-len(rates) // kept)


def test_a_short_gap_is_bridged_and_counted() -> None:
    received = np.ones(2600, dtype=bool)
    received[2400:2440] = False
    samples = wear(26.0)

    holed = prepare(Recording(samples=samples, rate_hz=100.0, received=received), Preparation())
    whole = prepare(Recording(samples=samples, rate_hz=100.0), Preparation())

    assert holed[-1].quality.missing_share == pytest.approx(0.1)
    assert holed[-1].quality.usable
    difference = np.std(holed[-1].samples - whole[-1].samples)
    assert difference < 0.7 * np.std(whole[-1].samples)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
@pytest.mark.parametrize("name", NAMES)
def test_what_no_sensor_sends_counts_as_lost(name: PreparationName, value: float) -> None:
    broken = wear(26.0)
    broken[1, 2300:2310] = value

    windows = StreamingDenoiser(Preparation(name=name)).push(broken)

    assert all(np.isfinite(window.samples).all() for window in windows)
    assert windows[-1].quality.missing_share == pytest.approx(10 / 400)


@pytest.mark.parametrize(
    ("samples", "disturbance"),
    [
        (np.zeros((3, 1000)), "silence"),
        (np.full((3, 1000), 9.81), "silence"),
        (np.full((3, 1000), np.nan), "warm-up"),
        (19.6 * np.sign(np.sin(np.arange(3000) / 30.0)).reshape(3, 1000), "saturation"),
    ],
    ids=["zeros", "constant", "nothing arrived", "saturated"],
)
@pytest.mark.parametrize("name", NAMES)
def test_useless_input_gives_windows_that_are_marked_and_finite(
    name: PreparationName, samples: np.ndarray, disturbance: str
) -> None:
    window = StreamingDenoiser(Preparation(name=name)).push(samples)[-1]

    assert window.quality.disturbance == disturbance
    assert not window.quality.usable
    assert np.isfinite(window.samples).all()


@pytest.mark.parametrize("count", [0, 1, 399])
def test_less_than_a_window_gives_none(count: int) -> None:
    assert prepare(Recording(samples=np.zeros((3, count)), rate_hz=100.0), Preparation()) == []


@pytest.mark.parametrize("rate_hz", [25.0, 50.0, 75.0, 100.0])
def test_every_rate_of_the_paper_gives_windows_of_four_seconds(rate_hz: float) -> None:
    recording = Recording(samples=wear(12.0, rate_hz=rate_hz), rate_hz=rate_hz)

    windows = prepare(recording, Preparation(rate_hz=rate_hz))

    assert windows[-1].samples.shape == (3, round(4 * rate_hz))
    assert windows[-1].end_s == 12.0


def test_a_recording_of_another_rate_is_refused() -> None:
    recording = Recording(samples=np.zeros((3, 1000)), rate_hz=50.0)

    with pytest.raises(SignalError, match="50 samples a second; this needs 100"):
        prepare(recording, Preparation())
    with pytest.raises(SignalError, match="50 samples a second; this needs 100"):
        trace(recording, Preparation())


def test_nonsense_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="one of two-stage, paper, bandpass"):
        Preparation(name="magic")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="samples a second"):
        Preparation(rate_hz=0.0)
    for step_s in (0.0, -1.0, 9.0, float("nan"), 0.001):
        with pytest.raises(ConfigError, match="a step lasts"):
            StreamingDenoiser(Preparation(), step_s=step_s)
    for shape in ((400,), (0, 400), (0, 3, 400), ()):
        with pytest.raises(SignalError, match="axes in rows"):
            StreamingDenoiser(Preparation()).push(np.zeros(shape))
    with pytest.raises(SignalError, match="the mask of a chunk"):
        StreamingDenoiser(Preparation()).push(np.zeros((3, 400)), np.ones(3, dtype=bool))


def test_a_trace_shows_every_step_of_the_whole_recording() -> None:
    recording = Recording(samples=wear(30.0), rate_hz=100.0)

    steps = trace(recording, Preparation())

    np.testing.assert_array_equal(steps.raw, recording.samples[:, :2800])
    for after in (steps.wavelet, steps.shrunk, steps.recovered):
        assert after.shape == (3, 2800)
    windows = prepare(recording, Preparation(), step_s=4.0)
    laid = np.concatenate([window.samples for window in windows], axis=-1)
    np.testing.assert_allclose(steps.recovered, laid, atol=1e-12)
    assert len(steps.periodicity) == 7
    assert steps.peaks(0).max() < 2800


def test_a_trace_needs_a_window() -> None:
    with pytest.raises(TooShortError, match=r"at least 4\.0 s"):
        trace(Recording(samples=np.zeros((3, 399)), rate_hz=100.0), Preparation())


def test_memory_stays_flat_however_long_the_stream() -> None:
    denoiser = StreamingDenoiser(Preparation())
    minute = wear(30.0)
    denoiser.push(minute)
    tracemalloc.start()

    held = []
    for _ in range(4):
        denoiser.push(minute)
        held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()

    assert max(held[1:]) - held[0] < 50_000


def test_importing_the_pipeline_imports_nothing_heavy() -> None:
    code = (
        "import sys, acclock.pipeline; heavy = "
        "{'scipy', 'numba', 'torch', 'pandas', 'pywt', 'matplotlib'} & set(sys.modules); "
        "sys.exit(', '.join(heavy) or 0)"
    )

    done = subprocess.run(  # noqa: S603  # our own words, to our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
