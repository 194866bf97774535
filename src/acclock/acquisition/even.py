"""Samples on an even clock, with the stretches in which nothing was received known."""

from dataclasses import dataclass, replace

import numpy as np

from acclock.acquisition.clock import Clock, check_rate, check_stamps, nominal_rate, read_clock
from acclock.acquisition.resampling import interpolate
from acclock.errors import SignalError
from acclock.values import BoolArray, FloatArray, Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A stretch in which no sample was received, counted from the start of the recording."""

    start_s: float
    length_s: float


def gaps_of(recording: Recording) -> tuple[Gap, ...]:
    """List the stretches of a recording that were not received."""
    return name_gaps(holes_of(recording))


def holes_of(recording: Recording) -> FloatArray:
    """Give the begin and end of each stretch that was not received, one hole per row.

    A sample stands for the time half a period before and after it.
    """
    missing = np.concatenate(([False], ~recording.received, [False]))
    edges = np.flatnonzero(missing[1:] != missing[:-1]).reshape(-1, 2)
    return np.asarray((edges - 0.5) / recording.rate_hz, dtype=np.float64)


def find_holes(times_s: FloatArray, clock: Clock) -> FloatArray:
    """Give the begin and end of each silence between time stamps, one hole per row."""
    half_s = 0.5 / clock.rate_hz
    begins, ends = times_s[:-1][clock.silent] + half_s, times_s[1:][clock.silent] - half_s
    return np.stack([begins, ends], axis=1)


def cover(grid_s: FloatArray, period_s: float, holes: FloatArray) -> BoolArray:
    """Tell which samples had more than half of their time outside of the holes."""
    if not holes.size:
        return np.ones(grid_s.size, dtype=bool)
    lost_after = np.cumsum(holes[:, 1] - holes[:, 0])
    lost_before = np.concatenate(([0.0], lost_after[:-1]))
    lost = np.stack([lost_before, lost_after], axis=1).ravel()
    begins = np.interp(grid_s - period_s / 2, holes.ravel(), lost)
    ends = np.interp(grid_s + period_s / 2, holes.ravel(), lost)
    return np.asarray(ends - begins < (0.5 - 1e-9) * period_s)


def name_gaps(holes: FloatArray) -> tuple[Gap, ...]:
    """List holes as gaps."""
    return tuple(Gap(start_s=float(begin), length_s=float(end - begin)) for begin, end in holes)


_MOST_SAMPLES = 30_000_000
_SAME_RATE = 0.02
"""Within this of the measured rate the new one counts as the same: only the moments move."""
JITTER = 0.05
"""Steps that differ by more than this share of the usual one are worth a closer look."""
_REFINEMENTS = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EvenSamples:
    """Samples at one rate, a mask of those that were received, and where the gaps lie."""

    samples: FloatArray
    received: BoolArray
    rate_hz: float
    native_rate_hz: float
    gaps: tuple[Gap, ...]


def even_out(
    stamps_s: FloatArray,
    samples: FloatArray,
    *,
    rate_hz: float | None = None,
    native_rate_hz: float | None = None,
) -> EvenSamples:
    """Put samples with uneven time stamps on an even clock that starts at the first stamp.

    Without ``rate_hz`` the rate is the measured one, or the common one that it is within 2 % of.
    ``native_rate_hz`` is for stamps that were counted from a known rate: it is not measured again.
    A sample of the result is received when more than half of its time was.

    >>> stamps_s = np.delete(np.arange(400) / 99.8, slice(100, 200))
    >>> even = even_out(stamps_s, np.ones((3, 300)))
    >>> even.rate_hz, round(even.native_rate_hz, 3), int((~even.received).sum())
    (100.0, 99.8, 100)
    """
    clock = read_clock(stamps_s) if native_rate_hz is None else _trust(stamps_s, native_rate_hz)
    rate_hz = nominal_rate(clock.rate_hz) if rate_hz is None else rate_hz
    check_rate(rate_hz)
    times_s = stamps_s - stamps_s[0]
    slots = _number_slots(times_s, clock)
    count = int(times_s[-1] * rate_hz + 1e-6) + 1
    if max(count, slots[-1]) > _MOST_SAMPLES:
        raise SignalError(
            f"{max(count, int(slots[-1])):.2g} samples are too many to hold; "
            f"at most {_MOST_SAMPLES:.2g} are read at once"
        )
    grid_s = np.arange(count) / rate_hz
    rows = _bridge(slots, samples) if clock.silent.any() else samples
    holes = find_holes(times_s, clock)
    ratio = find_ratio(rate_hz, native_rate_hz=clock.rate_hz)
    positions = np.interp(grid_s, times_s, slots)
    if _is_jittery(times_s, clock):
        positions = refine(positions, grid_s * clock.rate_hz, times_s * clock.rate_hz, slots, ratio)
    return EvenSamples(
        samples=interpolate(rows, positions, ratio=ratio),
        received=cover(grid_s, 1.0 / rate_hz, holes),
        rate_hz=rate_hz,
        native_rate_hz=clock.rate_hz,
        gaps=name_gaps(holes),
    )


def find_ratio(rate_hz: float, *, native_rate_hz: float) -> float:
    """Give how many new samples there are to an old one: exactly one where they hardly differ."""
    ratio = rate_hz / native_rate_hz
    return 1.0 if abs(ratio - 1.0) <= _SAME_RATE else ratio


def check_samples(samples: FloatArray) -> None:
    """Refuse samples that are not finite numbers or never change."""
    if not np.isfinite(samples).all():
        row = int(np.argmin(np.isfinite(samples).all(axis=0))) + 1
        raise SignalError(f"sample {row} is not a finite number; all of them must be")
    if samples.size and (np.ptp(samples, axis=1) == 0).all():
        raise SignalError("the signal is constant; a sensor that works never is")


def change_rate(recording: Recording, rate_hz: float) -> EvenSamples:
    """Give the samples of a recording at another rate, anti-aliased when it drops."""
    check_rate(rate_hz)
    known = np.flatnonzero(recording.received).astype(np.float64)
    count = int(len(recording) * rate_hz / recording.rate_hz + 1e-6)
    if known.size < 2 or count > _MOST_SAMPLES:
        raise SignalError(
            f"a recording with {known.size} received samples cannot be brought to {rate_hz:g} Hz"
        )
    rows = _bridge(known, recording.samples[:, recording.received], length=len(recording))
    grid_s = np.arange(count) / rate_hz
    holes = holes_of(recording)
    return EvenSamples(
        samples=interpolate(rows, grid_s * recording.rate_hz, ratio=rate_hz / recording.rate_hz),
        received=cover(grid_s, 1.0 / rate_hz, holes),
        rate_hz=rate_hz,
        native_rate_hz=recording.rate_hz,
        gaps=name_gaps(holes),
    )


def resample(recording: Recording, rate_hz: float) -> Recording:
    """Give a recording at another rate; it still says how often the sensor sampled.

    >>> slow = Recording(samples=np.ones((3, 100)), rate_hz=25.0)
    >>> fast = resample(slow, 50.0)
    >>> len(fast), fast.rate_hz, fast.native_rate_hz
    (200, 50.0, 25.0)
    """
    if rate_hz == recording.rate_hz:
        return recording
    even = change_rate(recording, rate_hz)
    return replace(
        recording,
        samples=even.samples,
        received=even.received,
        rate_hz=rate_hz,
        sampled_hz=recording.native_rate_hz,
    )


def _trust(stamps_s: FloatArray, rate_hz: float) -> Clock:
    check_stamps(stamps_s)
    check_rate(rate_hz)
    return Clock(rate_hz=rate_hz, silent=np.diff(stamps_s) > 1.5 / rate_hz)


def _number_slots(times_s: FloatArray, clock: Clock) -> FloatArray:
    """Count the samples as if none had been lost: a gap skips as many as would have fitted."""
    steps = np.ones(times_s.size - 1)
    steps[clock.silent] = np.rint(np.diff(times_s)[clock.silent] * clock.rate_hz)
    return np.concatenate(([0.0], np.cumsum(np.maximum(steps, 1.0))))


def _is_jittery(times_s: FloatArray, clock: Clock) -> bool:
    steps = np.diff(times_s)[~clock.silent] * clock.rate_hz
    return bool(np.abs(steps - 1.0).max(initial=0.0) > JITTER)


def refine(
    positions: FloatArray, grid: FloatArray, times: FloatArray, slots: FloatArray, ratio: float
) -> FloatArray:
    """Find where the clock shows the times of the grid, if read with the kernel of the samples.

    A straight line between two jittered stamps and a smooth curve through many differ; what the
    samples are weighed with must also weigh their times, or jitter becomes noise.
    """
    rows = _bridge(slots, times[np.newaxis])
    for _ in range(_REFINEMENTS):
        late = interpolate(rows, positions, ratio=ratio)[0] - grid
        positions = np.clip(positions - late, 0.0, slots[-1])
    return positions


def _bridge(slots: FloatArray, samples: FloatArray, length: int | None = None) -> FloatArray:
    """Draw straight lines over the gaps, so that a filter beside them has something to weigh."""
    every = np.arange(int(slots[-1]) + 1 if length is None else length)
    return np.stack([np.interp(every, slots, axis) for axis in samples])
