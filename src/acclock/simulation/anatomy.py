"""What makes the beat of one person look like nobody else's: its waves, and their path."""

from dataclasses import dataclass, replace

import numpy as np

from acclock.simulation.turns import CLOCK_HZ, CLOCK_S, J, find_turns, is_legible, stands_out
from acclock.simulation.waves import (
    ComplexArray,
    Wave,
    Waves,
    draw_beat,
    pass_through,
    resonate,
    stack,
)
from acclock.values import FloatArray

DEFLECTIONS = ("H", "I", "J", "K", "L", "M", "N")

_SIGNS = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
_SMALLEST = np.array([0.30, 0.25, 1.0, 0.25, 0.30, 0.15, 0.10])
_LARGEST = np.array([0.55, 0.55, 1.0, 0.55, 0.55, 0.30, 0.30])
_NARROWEST = np.array([0.36, 0.36, 0.22, 0.36, 0.36, 0.36, 0.36])
_WIDEST = np.array([0.46, 0.46, 0.32, 0.46, 0.46, 0.46, 0.46])
"""Widths, as shares of the shorter of the two neighboring gaps: J is the sharpest."""
_LEAST_WIDTH_S = 0.013
_GAPS_S = (0.030, 0.100)
_RIPPLES_S = np.array([-0.24, -0.19, 0.19, 0.225, 0.26, 0.295, 0.33, 0.365, 0.40, 0.435])
"""Where the ripples lie, about: everywhere but between H and L."""
_RIPPLE_SHARES = np.arange(1.2, 0.69, -0.05)
_RIPPLE_LOOSENESS = 0.3
"""Ripples lie close together: were they to move like deflections, they would cancel out."""
_SHARP_HZ = 20.0
"""Deflections are told apart below this."""
_BLUNT_HZ = 10.0
_BLUNT_DOMINANCE = 1.4
"""J can be told by a device of 25 Hz as well."""
_CORE_S = 0.15
_SHORTEST_FULL_S = 0.75
_SHORTEST_S = 0.35


@dataclass(frozen=True, slots=True, kw_only=True)
class Anatomy:
    """The waves of a beat, and the resonance of the bone and tissue between heart and ear."""

    deflections: tuple[Wave, ...]
    """H, I, J, K, L, M, N."""
    ripples: tuple[Wave, ...]
    """Waves without a name, before H and after L: what body and skull throw back."""
    resonance_hz: float
    damping: float

    @property
    def waves(self) -> Waves:
        return stack(self.deflections + self.ripples)

    @property
    def looseness(self) -> FloatArray:
        """How freely each wave moves against J, from 0 (not at all) to 1."""
        loose = np.ones(len(self.deflections))
        loose[J] = 0.0
        return np.append(loose, np.full(len(self.ripples), _RIPPLE_LOOSENESS))

    def respond(self, frequencies_hz: FloatArray) -> ComplexArray:
        return resonate(frequencies_hz, resonance_hz=self.resonance_hz, damping=self.damping)


def draw_anatomy(chance: np.random.Generator, *, j_amplitude: float, period_s: float) -> Anatomy:
    """Draw until the deflections can be told apart, and scale until J has its amplitude.

    The ripples are as large as they may be without hiding J.
    """
    while True:
        anatomy = _draw(chance)
        named = _feel(anatomy, anatomy.deflections, period_s)
        ripples = _feel(anatomy, anatomy.ripples, period_s)
        due_s = hasten(anatomy.waves, period_s).times_s[: len(DEFLECTIONS)]
        for share in _RIPPLE_SHARES:
            sharp, blunt = named + share * ripples
            if is_legible(sharp, due_s) and stands_out(blunt, due_s, by=_BLUNT_DOMINANCE):
                factor = j_amplitude / abs(sharp[find_turns(sharp, due_s)[J]])
                return replace(
                    anatomy,
                    deflections=_scale(anatomy.deflections, factor),
                    ripples=_scale(anatomy.ripples, share * factor),
                )


def hasten(waves: Waves, period_s: float) -> Waves:
    """Draw the ends of a beat nearer to J when the heart is too fast for its full length."""
    room = (period_s - _SHORTEST_S) / (_SHORTEST_FULL_S - _SHORTEST_S)
    core = np.clip(waves.times_s, -_CORE_S, _CORE_S)
    times_s = core + np.clip(room, 0.2, 1.0) * (waves.times_s - core)
    return replace(waves, times_s=times_s)


def _feel(anatomy: Anatomy, waves: tuple[Wave, ...], period_s: float) -> FloatArray:
    """Give one vertical beat with what its neighbors add to it, felt sharply and bluntly."""
    shifts_s = np.array([[-period_s], [0.0], [period_s]])
    beats = draw_beat(hasten(stack(waves), period_s), (CLOCK_S + shifts_s).ravel())[0]

    def respond(frequencies_hz: FloatArray) -> ComplexArray:
        edges_hz = np.array([[_SHARP_HZ], [_BLUNT_HZ]])
        return anatomy.respond(frequencies_hz) / (1.0 + (frequencies_hz / edges_hz) ** 8)

    vertical = pass_through(beats.reshape(3, -1).sum(axis=0), respond, CLOCK_HZ)
    own = np.abs(CLOCK_S) < period_s / 2
    return np.where(own, vertical - vertical[:, own].mean(axis=1, keepdims=True), 0.0)


def _draw(chance: np.random.Generator) -> Anatomy:
    times_s = _draw_times(chance)
    gaps_s = np.diff(times_s)
    room_s = np.minimum(np.append(gaps_s, gaps_s[-1]), np.insert(gaps_s, 0, gaps_s[0]))
    widths_s = np.maximum(room_s * chance.uniform(_NARROWEST, _WIDEST), _LEAST_WIDTH_S)
    sizes = _SIGNS * chance.uniform(_SMALLEST, _LARGEST)
    polarity = chance.choice([-1.0, 1.0])
    ripples = len(_RIPPLES_S)
    ripple_sizes = chance.choice([-1.0, 1.0], ripples) * chance.uniform(0.6, 0.7, ripples)
    ripple_times_s = _RIPPLES_S + chance.uniform(-0.012, 0.012, ripples)
    return Anatomy(
        deflections=_point(chance, times_s, widths_s, polarity * sizes),
        ripples=_point(chance, ripple_times_s, chance.uniform(0.013, 0.018, ripples), ripple_sizes),
        resonance_hz=float(chance.uniform(14.0, 28.0)),
        damping=float(chance.uniform(0.3, 0.7)),
    )


def _draw_times(chance: np.random.Generator) -> FloatArray:
    before_i, after_k = chance.uniform(0.034, 0.100, 2)
    before_h = before_i + np.clip(chance.uniform(0.080, 0.155) - before_i, *_GAPS_S)
    after_l = after_k + np.clip(chance.uniform(0.095, 0.170) - after_k, *_GAPS_S)
    after_m, after_n = after_l + np.cumsum(chance.uniform(0.040, 0.100, 2))
    return np.array([-before_h, -before_i, 0.0, after_k, after_l, after_m, after_n])


def _point(
    chance: np.random.Generator, times_s: FloatArray, widths_s: FloatArray, sizes: FloatArray
) -> tuple[Wave, ...]:
    """Give every wave its three axes: forwards and sideways are weaker, and each its own."""
    across = chance.normal(0.0, 0.4, (2, 1)) + chance.normal(0.0, 0.25, (2, len(sizes)))
    return tuple(
        Wave(time_s=float(time), width_s=float(width), sizes=(float(up), float(on), float(out)))
        for time, width, up, on, out in zip(
            times_s, widths_s, sizes, *(across * sizes), strict=True
        )
    )


def _scale(waves: tuple[Wave, ...], factor: float) -> tuple[Wave, ...]:
    return tuple(
        replace(wave, sizes=(factor * up, factor * on, factor * out))
        for wave in waves
        for up, on, out in [wave.sizes]
    )
