"""A live stream is what its file would have been, and nothing that it delivers can break it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acclock.acquisition.admission import Counts
from acclock.acquisition.even import even_out
from acclock.acquisition.live import EvenSpan, LiveClock
from acclock.values import BoolArray, FloatArray

EDGE = 30


def heartlike(times_s: FloatArray) -> FloatArray:
    """Give something smooth that is known at every moment: three tones below 12 Hz, and gravity."""
    tones = [(1.1, 0.3), (4.3, 1.0), (11.7, 2.0)]
    return np.stack(
        [9.8 * (axis == 0) + sum(np.sin(2 * np.pi * hz * times_s + axis + at) for hz, at in tones)
         for axis in range(3)]
    )  # fmt: skip


def run(
    clock: LiveClock, stamps_s: FloatArray, samples: FloatArray, cuts: list[int]
) -> list[EvenSpan]:
    spans: list[EvenSpan] = []
    edges = [0, *sorted({cut % (stamps_s.size + 1) for cut in cuts}), stamps_s.size]
    for begin, end in pairwise(edges):
        received_s = 100.0 + float(np.nanmax(stamps_s[:end], initial=0.0))
        spans += clock.push(stamps_s[begin:end], samples[:, begin:end], received_s)
    return spans + clock.finish()


def join(spans: list[EvenSpan]) -> tuple[FloatArray, BoolArray]:
    samples = np.concatenate([span.samples for span in spans], axis=1)
    return samples, np.concatenate([span.received for span in spans])


def every(count: int, size: int) -> list[int]:
    return list(range(size, count, size))


@pytest.mark.parametrize(
    ("source_hz", "real_hz", "rate_hz", "tolerance"),
    [
        (100.0, 100.0, 100.0, 1e-9),
        (100.0, 99.8, 100.0, 1e-9),
        (100.0, 100.7, 100.0, 1e-9),
        (200.0, 200.0, 100.0, 1e-3),
        (400.0, 397.0, 100.0, 1e-3),
        (50.0, 50.0, 50.0, 1e-9),
        (25.0, 25.0, 25.0, 1e-9),
        (50.0, 49.9, 50.0, 5e-2),
        (25.0, 25.0, 100.0, 0.5),
    ],
)
def test_an_even_stream_is_what_its_file_is(
    source_hz: float, real_hz: float, rate_hz: float, tolerance: float
) -> None:
    stamps_s = np.arange(round(8 * real_hz)) / real_hz
    samples = heartlike(stamps_s)

    clock = LiveClock(source_hz=source_hz, rate_hz=rate_hz)
    live, received = join(run(clock, stamps_s, samples, every(stamps_s.size, 6)))

    even = even_out(stamps_s, samples, rate_hz=rate_hz, native_rate_hz=real_hz)
    assert received.all()
    assert live.shape == even.samples.shape
    off = np.abs(live - even.samples)[:, EDGE:-EDGE].max()
    assert off <= tolerance
    assert clock.counts.accepted == stamps_s.size


@settings(max_examples=40)
@given(
    cuts=st.lists(st.integers(0, 500), max_size=20),
    lost=st.just(set()) | st.sets(st.integers(1, 498)),
    source_hz=st.sampled_from([50.0, 100.0, 200.0]),
    drift=st.sampled_from([0.998, 1.0, 1.0 + 1e-7]),
)
def test_it_does_not_matter_how_a_stream_is_cut(
    cuts: list[int], lost: set[int], source_hz: float, drift: float
) -> None:
    stamps_s = np.delete(np.arange(500) / (source_hz * drift), sorted(lost))
    samples = heartlike(stamps_s)

    cut_up = run(LiveClock(source_hz=source_hz, rate_hz=100.0), stamps_s, samples, cuts)
    whole = run(LiveClock(source_hz=source_hz, rate_hz=100.0), stamps_s, samples, [])

    for one, other in zip(join(cut_up), join(whole), strict=True):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=15)
@given(lost=st.sets(st.integers(60, 440), max_size=150))
def test_what_was_lost_is_what_the_file_says_was_lost(lost: set[int]) -> None:
    stamps_s = np.delete(np.arange(500) / 100.0, sorted(lost))
    samples = heartlike(stamps_s)

    clock = LiveClock(source_hz=100.0, rate_hz=100.0)
    live, received = join(run(clock, stamps_s, samples, every(stamps_s.size, 7)))

    even = even_out(stamps_s, samples, rate_hz=100.0, native_rate_hz=100.0)
    np.testing.assert_array_equal(received, even.received)
    assert not live[:, ~received].any()
    np.testing.assert_allclose(live[:, received], even.samples[:, received], atol=1e-9)
    assert clock.counts.missing == len(lost)


def test_jittered_stamps_cost_no_samples_and_are_read_as_a_file_is() -> None:
    chance = np.random.default_rng(0)
    stamps_s = np.arange(2000) / 100.0 + chance.uniform(-0.003, 0.003, 2000)
    samples = heartlike(stamps_s)

    clock = LiveClock(source_hz=100.0, rate_hz=100.0)
    live, received = join(run(clock, stamps_s, samples, every(2000, 3)))

    even = even_out(stamps_s, samples, rate_hz=100.0)
    assert received.all()
    np.testing.assert_allclose(live[:, EDGE:-EDGE], even.samples[:, EDGE:-EDGE], atol=1e-3)
    assert clock.counts.missing == 0


@pytest.mark.parametrize("drift", [-0.018, 0.018])
def test_a_clock_that_drifts_is_followed(drift: float) -> None:
    clock = LiveClock(source_hz=25.0, rate_hz=25.0)
    spans: list[EvenSpan] = []

    for second in range(150):
        stamps_s = (1.0 + drift) * (second + np.arange(25) / 25.0)
        spans += clock.push(stamps_s, np.ones((3, 25)), float(second))

    _, received = join(spans)
    assert received.all()
    assert received.size == pytest.approx(150 * 25 * (1.0 + drift), abs=25)
    assert clock.counts.accepted == 150 * 25


@dataclass
class Stream:
    """Twelve seconds, in chunks of five samples, before anything is spoiled."""

    stamps_s: FloatArray = field(default_factory=lambda: np.arange(1200) / 100.0)
    received_s: FloatArray = field(default_factory=lambda: np.arange(1200) / 100.0 + 50.0)
    samples: FloatArray = field(default_factory=lambda: heartlike(np.arange(1200) / 100.0))

    def play(self) -> tuple[Counts, list[EvenSpan]]:
        clock = LiveClock(source_hz=100.0, rate_hz=100.0)
        spans: list[EvenSpan] = []
        for at in range(0, 1200, 5):
            part = slice(at, at + 5)
            received_s = float(self.received_s[part][-1])
            spans += clock.push(self.stamps_s[part], self.samples[:, part], received_s)
        spans += clock.finish()
        return clock.counts, spans


SOME = slice(400, 410)


def damage(stream: Stream) -> None:
    stream.samples[1, SOME] = np.nan


def overload(stream: Stream) -> None:
    stream.samples[1, SOME] = 1e308


def lose_stamps(stream: Stream) -> None:
    stream.stamps_s[SOME] = [np.nan, np.inf, -np.inf, 1e300, np.nan] * 2


def repeat(stream: Stream) -> None:
    stream.stamps_s[SOME] = stream.stamps_s[399]


def delay(stream: Stream) -> None:
    stream.stamps_s[SOME] = stream.stamps_s[300:310]


def foresee(stream: Stream) -> None:
    stream.stamps_s[SOME] += 3600.0


def swap(stream: Stream) -> None:
    stream.stamps_s[[400, 409]] = stream.stamps_s[[409, 400]]


def be_silent(stream: Stream) -> None:
    stream.stamps_s[400:] += 3600.0
    stream.received_s[400:] += 3600.0


def set_forward(stream: Stream) -> None:
    stream.stamps_s[400:] += 3600.0


def set_back(stream: Stream) -> None:
    stream.stamps_s[400:] -= 3600.0


def reboot(stream: Stream) -> None:
    stream.stamps_s[400:] -= 3.9
    stream.received_s[400:] += 60.0


@pytest.mark.parametrize(
    ("spoil", "name", "count"),
    [
        (damage, "damaged", 10),
        (overload, "damaged", 10),
        (lose_stamps, "unstamped", 10),
        (repeat, "repeated", 10),
        (delay, "late", 10),
        (foresee, "future", 10),
        (swap, "late", 9),
    ],
)
def test_what_is_bad_is_counted_by_its_name_and_is_a_gap(
    spoil: Callable[[Stream], None], name: str, count: int
) -> None:
    stream = Stream()
    spoil(stream)

    counts, spans = stream.play()

    samples, received = join(spans)
    assert getattr(counts, name) == count
    assert counts.accepted == 1200 - count
    assert np.flatnonzero(~received).size in (count, count - 1)
    assert np.isfinite(samples).all()
    assert counts.restarts == 0


@pytest.mark.parametrize("spoil", [be_silent, set_forward, set_back, reboot])
def test_a_long_silence_or_a_clock_that_was_set_begins_anew(
    spoil: Callable[[Stream], None],
) -> None:
    stream = Stream()
    spoil(stream)

    counts, spans = stream.play()

    assert [span.restarted for span in spans].count(True) == 2
    assert counts.restarts == 1
    assert sum(span.received.size for span in spans) <= 1200
    assert counts.accepted >= 1200 - 51


def test_ten_times_the_rate_is_never_received() -> None:
    stamps_s = np.arange(20_000) / 1000.0
    clock = LiveClock(source_hz=100.0, rate_hz=100.0)

    _, received = join(run(clock, stamps_s, heartlike(stamps_s), every(20_000, 60)))

    assert not received.any()
    assert clock.counts.off_rate == received.size == 2000


def test_data_that_is_played_faster_than_time_passes_is_from_the_future() -> None:
    stamps_s = np.arange(8_000) / 100.0
    clock = LiveClock(source_hz=100.0, rate_hz=100.0)
    longest_s = 0.0

    for at in range(0, 8_000, 10):
        spans = clock.push(stamps_s[at : at + 10], np.ones((3, 10)), at / 1000.0)
        longest_s = max([longest_s, *(span.samples.shape[1] / 100.0 for span in spans)])

    assert clock.counts.future > 0
    assert clock.counts.restarts > 10


Number = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True), st.floats(-5.0, 5.0), st.just(float("nan"))
)


@given(
    chunks=st.lists(
        st.tuples(st.lists(st.tuples(Number, Number), max_size=12), st.floats(0.0, 100.0)),
        max_size=15,
    )
)
def test_nothing_that_is_delivered_raises_or_comes_out_as_a_bad_number(
    chunks: list[tuple[list[tuple[float, float]], float]],
) -> None:
    clock = LiveClock(source_hz=100.0, rate_hz=100.0)
    spans: list[EvenSpan] = []

    for rows, received_s in chunks:
        stamps_s = np.array([stamp for stamp, _ in rows], dtype=np.float64)
        samples = np.tile(np.array([value for _, value in rows], dtype=np.float64), (3, 1))
        spans += clock.push(stamps_s, samples, received_s)
    spans += clock.finish()

    counts = clock.counts
    came = sum(len(rows) for rows, _ in chunks)
    turned_away = counts.late + counts.repeated + counts.unstamped + counts.damaged + counts.future
    assert counts.accepted + turned_away == came
    assert all(np.isfinite(span.samples).all() for span in spans)
    assert all(span.samples.shape == (3, span.received.size) for span in spans)
    assert all(not span.samples[:, ~span.received].any() for span in spans)
    assert sum(span.received.size for span in spans) <= 201 * came + 1
