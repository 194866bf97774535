"""Samples on their way to a loop, and what can go wrong with them there."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf
from typing import Literal

import numpy as np

from acclock.values import FloatArray, Recording

Spoiled = Literal["no", "cut", "flipped", "text"]
Signal = Literal["disconnect", "removed"]

PACKET_S = 0.1


@dataclass(frozen=True, kw_only=True, eq=False)
class Packet:
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


def packetize(pieces: Iterable[Recording | Signal]) -> list[Packet]:
    """Cut recordings into packets, end to end; packets of which nothing was received are lost."""
    packets: list[Packet] = []
    at_s, sequence = 0.0, 0
    for piece in pieces:
        if isinstance(piece, str):
            packets.append(_signal(piece, at_s))
            continue
        length = round(PACKET_S * piece.rate_hz)
        heard = np.where(piece.received, piece.samples, np.nan)
        for start in range(0, len(piece) - length + 1, length):
            samples = heard[:, start : start + length]
            if not np.isnan(samples).all():
                packets.append(
                    Packet(
                        at_s=at_s + PACKET_S,
                        sequence=sequence,
                        stamp_s=at_s,
                        period_s=1.0 / piece.rate_hz,
                        samples=samples,
                    )
                )
            at_s, sequence = round(at_s + PACKET_S, 6), sequence + 1
    return packets


def spoil(packets: list[Packet], damages: Iterable[Damage]) -> list[Packet]:
    """Let damages happen, one after the other, to the packets of their time."""
    for damage in damages:
        if damage.kind in _DAMAGES:
            hit = [one for one in packets if damage.from_s < one.at_s - 1e-9 <= damage.until_s]
            kept = [one for one in packets if one not in hit]
            packets = sorted([*kept, *_DAMAGES[damage.kind](hit, damage)], key=lambda one: one.at_s)
        elif damage.kind not in HOST_DAMAGES:
            raise ValueError(f"there is no damage {damage.kind!r}")
    return packets


HOST_DAMAGES = ("frozen", "busy", "slow model")
"""These happen to the listener and not to packets. The whole process stands still, or what
decides, which is the same for a monitor; or each embedding takes ``size`` seconds."""


def _signal(signal: Signal, at_s: float) -> Packet:
    return Packet(
        at_s=at_s, sequence=0, stamp_s=0.0, period_s=0.0, samples=np.zeros((3, 0)), signal=signal
    )


Each = Callable[[Packet, Damage], Packet]
Whole = Callable[[list[Packet], Damage], list[Packet]]


def _each(change: Each) -> Whole:
    return lambda packets, damage: [change(packet, damage) for packet in packets]


def _filled(value: float) -> Whole:
    return _each(lambda packet, _: replace(packet, samples=np.full_like(packet.samples, value)))


def _freeze(packets: list[Packet], _: Damage) -> list[Packet]:
    first = packets[0].samples[:, :1]
    return [replace(one, samples=np.repeat(first, one.samples.shape[1], 1)) for one in packets]


def _loop(packets: list[Packet], damage: Damage) -> list[Packet]:
    """Play the first seconds over and over."""
    length = round(damage.size / PACKET_S)
    return [
        replace(one, samples=packets[place % length].samples) for place, one in enumerate(packets)
    ]


def _lose(packets: list[Packet], damage: Damage) -> list[Packet]:
    kept = np.random.default_rng(1).random(len(packets)) >= damage.size
    return [one for one, here in zip(packets, kept, strict=True) if here]


def _jitter(packets: list[Packet], damage: Damage) -> list[Packet]:
    late_s = np.random.default_rng(2).uniform(0.0, damage.size, len(packets)).round(3)
    return [replace(one, at_s=one.at_s + by_s) for one, by_s in zip(packets, late_s, strict=True)]


def _swap(packets: list[Packet], _: Damage) -> list[Packet]:
    pairs = zip(packets[::2], packets[1::2], strict=False)
    return [
        one
        for early, late in pairs
        for one in (replace(late, at_s=early.at_s), replace(early, at_s=late.at_s))
    ]


def _knock(packets: list[Packet], damage: Damage) -> list[Packet]:
    struck = packets[0].samples.copy()
    struck[:, 2:5] += damage.size
    return [replace(packets[0], samples=struck), *packets[1:]]


def _drift(packet: Packet, damage: Damage) -> Packet:
    ahead_s = damage.size * (packet.at_s - damage.from_s)
    period_s = packet.period_s * (1.0 + damage.size)
    return replace(packet, stamp_s=packet.stamp_s + ahead_s, period_s=period_s)


_DAMAGES: dict[str, Whole] = {
    "gap": lambda _, __: [],
    "loss": _lose,
    "stall": lambda packets, damage: [replace(one, at_s=damage.until_s) for one in packets],
    "flood": lambda packets, damage: [replace(one, at_s=damage.from_s) for one in packets],
    "late": _each(lambda one, damage: replace(one, at_s=one.at_s + damage.size)),
    "jitter": _jitter,
    "swapped": _swap,
    "repeated": lambda packets, _: [one for one in packets for _ in range(2)],
    "renumbered": _each(
        lambda one, damage: replace(one, sequence=one.sequence + round(damage.size))
    ),
    "cut": _each(lambda one, _: replace(one, spoiled="cut")),
    "flipped": _each(lambda one, _: replace(one, spoiled="flipped")),
    "text": _each(lambda one, _: replace(one, spoiled="text")),
    "removed": lambda packets, damage: [_signal("removed", damage.from_s), *packets],
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
