"""Raw contexts, changed as another day, another ear and a poor radio would have changed them."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from acclock.acquisition.resampling import interpolate
from acclock.errors import ConfigError
from acclock.values import BoolArray, FloatArray

_LOSSES = ((0.0, 0.0), (0.0, 0.1), (0.1, 0.2), (0.2, 0.3))
"""Shares of lost samples, from and to; a quarter of the windows falls to each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Augmentation:
    """How far windows may be changed. All of it is redrawn whenever a window is drawn.

    Paper: Sec. 7.4.9 for ``packet_loss``. The rest is ours (docs/decisions/0019).
    """

    noise: float = 0.3
    """White noise, up to this share of the usual step from one sample to the next."""
    pace: float = 0.1
    """A heart beats up to this share slower or faster."""
    rotation_deg: float = 15.0
    """The three axes are turned together, up to this angle, about any direction."""
    gain: float = 0.25
    """All axes become up to this share stronger or weaker."""
    packet_loss: bool = True
    """The paper's scheme: a quarter clean, the rest with up to 10, 20 and 30 % of samples lost."""

    def __post_init__(self) -> None:
        for name, most in {"noise": 10.0, "pace": 0.5, "rotation_deg": 180.0, "gain": 0.9}.items():
            if not 0 <= getattr(self, name) <= most:
                raise ConfigError(f"{name} lies between 0 and {most:g}, not {getattr(self, name)}")

    @classmethod
    def none(cls) -> Self:
        """Give the augmentation that leaves everything as it is."""
        return cls(noise=0.0, pace=0.0, rotation_deg=0.0, gain=0.0, packet_loss=False)

    @property
    def changes(self) -> bool:
        """Whether anything is changed at all."""
        return self != type(self).none()

    def reach(self, length: int) -> int:
        """Give how many raw samples a context of this length may be drawn from."""
        return length + int(np.ceil(self.pace * length))


def augment(
    contexts: FloatArray,
    received: BoolArray,
    *,
    length: int,
    augmentation: Augmentation,
    chance: np.random.Generator,
) -> tuple[FloatArray, BoolArray]:
    """Give contexts ``(n, 3, length)`` and masks ``(n, length)``, each changed in its own way.

    They are cut from the ends of what comes in, which may be longer: a heart that is to beat
    faster needs more than ``length`` samples.
    """
    count = len(contexts)
    paces = 1.0 + chance.uniform(-augmentation.pace, augmentation.pace, count)
    changed, arrived = change_pace(contexts, received, paces, length=length)
    turns = draw_turns(count, np.deg2rad(augmentation.rotation_deg), chance)
    gains = np.exp(chance.uniform(-1.0, 1.0, count) * np.log1p(augmentation.gain))
    changed = (gains[:, np.newaxis, np.newaxis] * turns) @ changed
    changed += _draw_noise(changed, augmentation.noise, chance)
    if augmentation.packet_loss:
        arrived = lose_packets(arrived, chance)
    return np.where(arrived[:, np.newaxis], changed, 0.0), arrived


def change_pace(
    contexts: FloatArray, received: BoolArray, paces: FloatArray, *, length: int
) -> tuple[FloatArray, BoolArray]:
    """Play contexts faster or slower and keep the last ``length`` samples, the end where it was.

    A context with holes keeps its pace: what lies beside a hole would ring into it.
    """
    changed = contexts[..., -length:].copy()
    arrived = received[..., -length:].copy()
    last = contexts.shape[-1] - 1
    for n in np.flatnonzero((paces != 1.0) & received.all(axis=-1)):
        positions = last - paces[n] * np.arange(length - 1, -1, -1.0)
        changed[n] = interpolate(contexts[n], np.maximum(positions, 0.0), ratio=1.0)
    return changed, arrived


def draw_turns(count: int, most: float, chance: np.random.Generator) -> FloatArray:
    """Draw rotations ``(n, 3, 3)`` about any direction by up to ``most`` radians."""
    directions = chance.normal(size=(count, 3))
    x, y, z = (directions / np.linalg.norm(directions, axis=1, keepdims=True)).T
    nothing = np.zeros(count)
    crosses = np.array([[nothing, -z, y], [z, nothing, -x], [-y, x, nothing]]).transpose(2, 0, 1)
    angles = chance.uniform(0.0, most, count)[:, np.newaxis, np.newaxis]
    # Rodrigues' formula
    turned = np.sin(angles) * crosses + (1.0 - np.cos(angles)) * (crosses @ crosses)
    return np.asarray(np.eye(3) + turned)


def lose_packets(received: BoolArray, chance: np.random.Generator) -> BoolArray:
    """Give masks with samples lost at random: in a quarter none, up to 10, 20, 30 % in the rest.

    Paper: Sec. 7.4.9. The quarters are as equal as the number of windows allows, in random order.
    """
    quarters = chance.permutation(len(received)) % len(_LOSSES)
    lows, highs = np.array(_LOSSES)[quarters].T
    shares = chance.uniform(lows, highs)
    kept: BoolArray = chance.random(received.shape) >= shares[:, np.newaxis]
    return received & kept


def _draw_noise(contexts: FloatArray, most: float, chance: np.random.Generator) -> FloatArray:
    steps = np.diff(contexts).std(axis=-1).mean(axis=-1)
    levels = chance.uniform(0.0, most, len(contexts)) * steps
    noise = chance.standard_normal(contexts.shape, dtype=np.float32)
    return np.asarray(levels[:, np.newaxis, np.newaxis] * noise)
