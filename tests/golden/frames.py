"""Samples on their way to a loop, and what can go wrong with them there."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf
from typing import Literal

import numpy as np

from acclock.values import FloatArray, Recording

Spoiled = Literal["no", "cut", "flipped", "text"]
Signal = Literal["disconnect", "removed"]

FRAME_S = 0.1


@dataclass(frozen=True, kw_only=True, eq=False)
class SentFrame:
    """One frame: when it arrives, how it is numbered and stamped, and what is in it."""

    at_s: float
    sequence: int
    stamp_s: float
    period_s: float
    samples: FloatArray
    spoiled: Spoiled = "no"
    signal: Signal | None = None
    """What the radio says instead of delivering a frame."""


@dataclass(frozen=True)
class Damage:
    """What goes wrong, from when on, for how long, and how badly."""

    kind: str
    from_s: float
    for_s: float = inf
    size: float = 0.0

    @property
    def until_s(self) -> float:
        return self.from_s + self.for_s

    def hits(self, frame: SentFrame) -> bool:
        return self.from_s < frame.at_s - 1e-9 <= self.until_s


def cut_frames(pieces: Iterable[Recording | Signal]) -> list[SentFrame]:
    """Cut recordings into frames, end to end; frames of which nothing was received are lost."""
    frames: list[SentFrame] = []
    at_s, sequence = 0.0, 0
    for piece in pieces:
        if isinstance(piece, str):
            frames.append(_signal(piece, at_s))
            continue
        length = round(FRAME_S * piece.rate_hz)
        heard = np.where(piece.received, piece.samples, np.nan)
        for start in range(0, len(piece) - length + 1, length):
            samples = heard[:, start : start + length]
            if not np.isnan(samples).all():
                frames.append(
                    SentFrame(
                        at_s=at_s + FRAME_S,
                        sequence=sequence,
                        stamp_s=at_s,
                        period_s=1.0 / piece.rate_hz,
                        samples=samples,
                    )
                )
            at_s, sequence = round(at_s + FRAME_S, 6), sequence + 1
    return frames


def spoil(frames: list[SentFrame], damages: Iterable[Damage]) -> list[SentFrame]:
    """Let damages happen, one after the other, to the frames of their time."""
    for damage in damages:
        if damage.kind in HOST_DAMAGES:
            continue
        hit = [one for one in frames if damage.hits(one)]
        kept = [one for one in frames if not damage.hits(one)]
        frames = sorted([*kept, *_DAMAGES[damage.kind](hit, damage)], key=lambda one: one.at_s)
    return frames


HOST_DAMAGES = ("frozen", "busy", "slow model", "failure")
"""These happen to the listener and not to frames. The whole process stands still, or what
decides, which is the same for a monitor; each embedding takes ``size`` seconds; or something on
which all sessions depend has failed."""


def _signal(signal: Signal, at_s: float) -> SentFrame:
    return SentFrame(
        at_s=at_s, sequence=0, stamp_s=0.0, period_s=0.0, samples=np.zeros((3, 0)), signal=signal
    )


Each = Callable[[SentFrame, Damage], SentFrame]
Whole = Callable[[list[SentFrame], Damage], list[SentFrame]]


def _each(change: Each) -> Whole:
    return lambda frames, damage: [change(frame, damage) for frame in frames]


def _filled(value: float) -> Whole:
    return _each(lambda frame, _: replace(frame, samples=np.full_like(frame.samples, value)))


def _freeze(frames: list[SentFrame], _: Damage) -> list[SentFrame]:
    first = frames[0].samples[:, :1]
    return [replace(one, samples=np.repeat(first, one.samples.shape[1], 1)) for one in frames]


def _loop(frames: list[SentFrame], damage: Damage) -> list[SentFrame]:
    """Play the first seconds over and over."""
    length = round(damage.size / FRAME_S)
    return [
        replace(one, samples=frames[place % length].samples) for place, one in enumerate(frames)
    ]


def _lose(frames: list[SentFrame], damage: Damage) -> list[SentFrame]:
    kept = np.random.default_rng(1).random(len(frames)) >= damage.size
    return [one for one, here in zip(frames, kept, strict=True) if here]


def _jitter(frames: list[SentFrame], damage: Damage) -> list[SentFrame]:
    late_s = np.random.default_rng(2).uniform(0.0, damage.size, len(frames)).round(3)
    return [replace(one, at_s=one.at_s + by_s) for one, by_s in zip(frames, late_s, strict=True)]


def _swap(frames: list[SentFrame], _: Damage) -> list[SentFrame]:
    pairs = zip(frames[::2], frames[1::2], strict=False)
    return [
        one
        for early, late in pairs
        for one in (replace(late, at_s=early.at_s), replace(early, at_s=late.at_s))
    ]


def _knock(frames: list[SentFrame], damage: Damage) -> list[SentFrame]:
    struck = frames[0].samples.copy()
    struck[:, 2:5] += damage.size
    return [replace(frames[0], samples=struck), *frames[1:]]


def _drift(frame: SentFrame, damage: Damage) -> SentFrame:
    ahead_s = damage.size * (frame.at_s - damage.from_s)
    period_s = frame.period_s * (1.0 + damage.size)
    return replace(frame, stamp_s=frame.stamp_s + ahead_s, period_s=period_s)


_DAMAGES: dict[str, Whole] = {
    "gap": lambda _, __: [],
    "loss": _lose,
    "stall": lambda frames, damage: [replace(one, at_s=damage.until_s) for one in frames],
    "flood": lambda frames, damage: [replace(one, at_s=damage.from_s) for one in frames],
    "late": _each(lambda one, damage: replace(one, at_s=one.at_s + damage.size)),
    "jitter": _jitter,
    "swapped": _swap,
    "repeated": lambda frames, _: [one for one in frames for _ in range(2)],
    "renumbered": _each(
        lambda one, damage: replace(one, sequence=one.sequence + round(damage.size))
    ),
    "cut": _each(lambda one, _: replace(one, spoiled="cut")),
    "flipped": _each(lambda one, _: replace(one, spoiled="flipped")),
    "text": _each(lambda one, _: replace(one, spoiled="text")),
    "removed": lambda frames, damage: [_signal("removed", damage.from_s), *frames],
    "nan": _filled(np.nan),
    "infinite": _filled(np.inf),
    "strong": _filled(1e6),
    "zero": _filled(0.0),
    "stuck": _freeze,
    "loop": _loop,
    "knock": _knock,
    "turned": _each(lambda one, _: replace(one, samples=one.samples[[1, 2, 0]])),
    "amplified": _each(lambda one, damage: replace(one, samples=one.samples * damage.size)),
    "clipped": _each(
        lambda one, damage: replace(one, samples=one.samples.clip(-damage.size, damage.size))
    ),
    "halved": _each(
        lambda one, _: replace(one, samples=one.samples[:, ::2], period_s=2 * one.period_s)
    ),
    "device clock": _each(lambda one, damage: replace(one, stamp_s=one.stamp_s + damage.size)),
    "drift": _each(_drift),
}
