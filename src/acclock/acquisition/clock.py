"""The clock of a device, as its time stamps show it: how fast it ticks, and where it is silent."""

from dataclasses import dataclass

import numpy as np

from acclock.errors import SignalError, TooShortError
from acclock.values import BoolArray, FloatArray

SLOWEST_HZ = 10.0
FASTEST_HZ = 8000.0
SHORTEST_S = 1.0
"""Less than a second holds no heartbeat, and too few stamps to trust a rate."""
LONGEST_S = 48 * 3600.0

_STEADY_LIMIT = 1.5
_LOOSEST_LIMIT = 3.0
_SURE_GAP = 3.5
_STRETCH = 200
_NOMINAL_HZ = (12.5, 25.0, 50.0, 75.0, 100.0, 125.0, 200.0, 250.0, 400.0, 500.0, 800.0, 1000.0)
_NOMINAL_TOLERANCE = 0.02


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clock:
    """What a row of time stamps says: the rate while samples came, and when they did not."""

    rate_hz: float
    silent: BoolArray
    """Which steps from one stamp to the next are gaps, one fewer than there are stamps."""


def read_clock(stamps_s: FloatArray) -> Clock:
    """Measure the rate of rising time stamps in seconds, and tell gaps from mere jitter.

    A step is a gap when it is longer than one and a half usual steps, or than three where the
    clock is so jittery that one and a half happen. *Ours*: docs/decisions/0002. A rate that
    cannot be told is refused.

    >>> clock = read_clock(np.delete(np.arange(1000) / 50.0, slice(500, 600)))
    >>> round(clock.rate_hz, 6), int(clock.silent.sum())
    (50.0, 1)
    """
    check_stamps(stamps_s)
    steps = np.diff(stamps_s)
    usual = float(np.median(steps))
    if np.mean(steps < 0.55 * usual) > 0.15:
        raise SignalError(_cannot_tell("the time stamps are too irregular"))
    limit = _find_limit(steps, usual)
    period = float(steps[steps <= limit * usual].mean())
    silent = steps > max(limit * usual, _STEADY_LIMIT * period)
    missing_share = float(steps[silent].sum() - silent.sum() * period) / float(steps.sum())
    if missing_share > 0.5 and silent.sum() > 10:
        raise SignalError(_cannot_tell("the time stamps come in bursts"))
    check_rate(1.0 / period)
    return Clock(rate_hz=1.0 / period, silent=silent)


def check_stamps(stamps_s: FloatArray) -> None:
    """Refuse time stamps that are not finite, do not rise, or span too little or too much."""
    if not np.isfinite(stamps_s).all():
        raise SignalError("some time stamps are not finite numbers")
    span_s = float(stamps_s[-1] - stamps_s[0]) if stamps_s.size else 0.0
    steps = np.diff(stamps_s)
    if (steps < 0).any():
        row = int(np.argmax(steps < 0)) + 2
        raise SignalError(
            f"time runs backwards at sample {row} (by {-steps[row - 2]:.3g} s); it must rise"
        )
    if (steps == 0).any():
        row = int(np.argmax(steps == 0)) + 2
        raise SignalError(
            f"{int((steps == 0).sum())} time stamps are duplicated, the first at sample {row}; "
            "each sample needs its own"
        )
    if stamps_s.size < 3 or span_s < SHORTEST_S:
        raise TooShortError(have_s=span_s, need_s=SHORTEST_S)
    if span_s > LONGEST_S:
        raise SignalError(
            f"the time stamps span {span_s / 3600:.0f} hours; at most {LONGEST_S / 3600:.0f} "
            "are read at once"
        )


def check_rate(rate_hz: float) -> None:
    """Refuse a sampling rate at which a heartbeat cannot be worked with."""
    if not SLOWEST_HZ <= rate_hz <= FASTEST_HZ:
        raise SignalError(
            f"a sampling rate of {rate_hz:.4g} Hz cannot be used; it must lie between "
            f"{SLOWEST_HZ:g} and {FASTEST_HZ:g} Hz"
        )


def nominal_rate(rate_hz: float) -> float:
    """Give the rate that was meant: a common one within 2 %, otherwise the measured one.

    >>> nominal_rate(99.4), nominal_rate(208.167)
    (100.0, 208.17)
    """
    nearest = min(_NOMINAL_HZ, key=lambda nominal: abs(nominal - rate_hz))
    close = abs(nearest - rate_hz) <= _NOMINAL_TOLERANCE * nearest
    return nearest if close else round(rate_hz, 2)


def _find_limit(steps: FloatArray, usual: float) -> float:
    """Tell how many usual steps one must be longer than to be a gap."""
    if steps.max() <= _STEADY_LIMIT * usual:
        return _STEADY_LIMIT
    if _is_coarse(steps, usual):
        return _SURE_GAP
    steps = steps[steps <= _SURE_GAP * usual]
    if _near_multiples(steps, usual):
        return _STEADY_LIMIT
    if _wanders(steps):
        raise SignalError(_cannot_tell("the time stamps are too irregular"))
    return _LOOSEST_LIMIT


def _near_multiples(steps: FloatArray, usual: float) -> bool:
    """Whether a step is one period or several, give or take: then a long one is a loss."""
    counts = np.maximum(np.rint(steps / usual), 1.0)
    period = steps.sum() / counts.sum()
    return bool(np.mean(np.abs(steps / period - counts) > 0.4) <= 0.015)


def _wanders(steps: FloatArray) -> bool:
    """Whether stamps stray from a straight line: jitter swings back, a loss does not."""
    length = min(_STRETCH, steps.size)
    stretches = steps[: steps.size // length * length].reshape(-1, length)
    strays = np.cumsum(stretches / stretches.mean(axis=1, keepdims=True) - 1.0, axis=1)
    return bool(np.median(np.ptp(strays, axis=1)) > 2.0)


def _is_coarse(steps: FloatArray, usual: float) -> bool:
    """Whether long steps come at even intervals: a clock with too few digits, and no losses."""
    long = np.flatnonzero((steps > _STEADY_LIMIT * usual) & (steps <= _SURE_GAP * usual))
    return long.size >= 8 and int(np.ptp(np.diff(long))) <= 2


def _cannot_tell(why: str) -> str:
    return f"{why}, so the sampling rate cannot be told from them; say at which rate it was sampled"
