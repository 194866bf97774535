"""What makes the beat of one person look like nobody else's: its waves, and where it turns."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

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

IndexArray = NDArray[np.intp]

CLOCK_HZ = 1000.0
CLOCK_S = np.arange(-0.5, 0.8, 1.0 / CLOCK_HZ)
"""The clock on which one clean beat is looked at; the wave that makes J comes at zero."""

H, J, L = 0, 2, 4
_SIGNS = (1, -1, 1, -1, 1, -1, 1)
_LATEST_J_S = 0.08
"""The path and the earphone delay J by less than this."""
_NEAR_J_S = 0.03
_NEIGHBORS_S = 0.06
"""How far I and K lie from J, about."""
_DOMINANCE = 2.2
"""How much more J stands out than any other turn."""
_LEAST_SWING = 0.55
"""From each of H, I, J, K, L to the next, as a share of J."""
_LEAST_FALL = 0.50
"""Before H and after L, as a share of J."""
_LONGEST_DETOUR = 1.05
"""How much longer the way from H to L is than its swings: more, and there are turns between."""
_FARTHEST_S = 0.02
"""How far the sum of the waves may move a turn from where its wave is."""


def find_turns(vertical: FloatArray, due_s: FloatArray) -> IndexArray:
    """Give the places on ``CLOCK_S`` at which H to N turn: the nearest to where they are due.

    J is the largest turn within 80 ms of its wave and may point up or down; the others alternate
    around it, and are as late as it is.
    """
    near = np.flatnonzero((CLOCK_S > -_NEAR_J_S) & (CLOCK_S < _LATEST_J_S))
    peak = near[np.abs(vertical[near]).argmax()]
    bends = np.diff(np.sign(np.diff(vertical * np.sign(vertical[peak]))))
    delay_s = CLOCK_S[peak] - due_s[J]
    return np.array(
        [
            _nearest(1 + np.flatnonzero(sign * bends < 0), due + delay_s)
            for sign, due in zip(_SIGNS, due_s, strict=True)
        ]
    )


def is_legible(vertical: FloatArray, due_s: FloatArray) -> bool:
    """Say whether J stands out of the beat, and H, I, K and L around it can be told apart."""
    turns = find_turns(vertical, due_s)
    upright = vertical / vertical[turns[J]]
    named = turns[H : L + 1]
    swings = np.abs(np.diff(upright[named]))
    way = np.abs(np.diff(upright[named[0] : named[-1] + 1])).sum()
    moved_s = CLOCK_S[named] - due_s[H : L + 1]
    return bool(
        swings.min() >= _LEAST_SWING
        and way <= _LONGEST_DETOUR * swings.sum()
        and np.ptp(moved_s) <= 2 * _FARTHEST_S
        and _falls(upright[named[0] :: -1])
        and _falls(upright[named[-1] :])
        and stands_out(vertical, due_s, by=_DOMINANCE)
    )


def stands_out(vertical: FloatArray, due_s: FloatArray, *, by: float) -> bool:
    """Say whether J is larger than all else, and farther from its neighbors by some factor."""
    peak = find_turns(vertical, due_s)[J]
    upright = vertical / vertical[peak]
    apart = round(_NEIGHBORS_S * CLOCK_HZ)
    around = (np.roll(upright, apart) + np.roll(upright, -apart)) / 2
    standing = upright * (upright - around)
    elsewhere = np.abs(CLOCK_S - CLOCK_S[peak]) > _NEAR_J_S
    largest = np.abs(upright[elsewhere]).max()
    return bool(standing[peak] > by * standing[elsewhere].max() and largest < 1.0)


def _nearest(places: IndexArray, due_s: float) -> int:
    return int(places[np.abs(CLOCK_S[places] - due_s).argmin()])


def _falls(outwards: FloatArray) -> bool:
    """Say whether a peak falls clearly before anything higher comes."""
    fallen = np.flatnonzero(outwards < outwards[0] - _LEAST_FALL)
    return len(fallen) > 0 and bool(outwards[: fallen[0]].max() <= outwards[0])


DEFLECTIONS = ("H", "I", "J", "K", "L", "M", "N")

_ANATOMY_SIGNS = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
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
    sizes = _ANATOMY_SIGNS * chance.uniform(_SMALLEST, _LARGEST)
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
