"""What happens while an earphone is worn, and which earphone: checked values."""

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from acclock.errors import ConfigError
from acclock.simulation.waves import ComplexArray, resonate
from acclock.values import Ear, FloatArray

Device = Literal["prototype", "airpods"]

_NOISE = 0.041
"""Standard deviation in m/s² at 100 samples a second (docs/decisions/0003)."""
_NOISE_RATE_HZ = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Earphone:
    """What a device does to the acceleration of the ear."""

    rate_hz: float
    resonance_hz: float
    """Of the housing on its cushion."""
    damping: float
    packet_samples: int
    """How many samples travel, and get lost, together."""

    def respond(self, frequencies_hz: FloatArray) -> ComplexArray:
        return resonate(frequencies_hz, resonance_hz=self.resonance_hz, damping=self.damping)

    def noise_at(self, rate_hz: float) -> float:
        """Give the standard deviation of the noise: its density is the same at every rate."""
        return _NOISE * float(np.sqrt(rate_hz / _NOISE_RATE_HZ))


EARPHONES: dict[Device, Earphone] = {
    "prototype": Earphone(rate_hz=100.0, resonance_hz=60.0, damping=0.7, packet_samples=6),
    "airpods": Earphone(rate_hz=25.0, resonance_hz=7.0, damping=0.7, packet_samples=1),
}


Posture = Literal["sitting", "reclining", "lying", "standing"]
Movement = Literal["still", "blink", "head-shake", "talk", "walk", "run"]
Music = Literal["off", "low", "medium", "high"]
Environment = Literal["classroom", "station", "playground"]

_CHOICES = {
    "device": Device,
    "ear": Ear,
    "posture": Posture,
    "movement": Movement,
    "music": Music,
    "environment": Environment,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One wearing of an earphone. The defaults are the paper's: still, seated, in class."""

    duration_s: float = 60.0
    session: int = 0
    """A new number is a new mounting: the earphone was taken out and put back in."""
    device: Device = "prototype"
    rate_hz: float | None = None
    """Samples a second; the device's own when not given."""
    ear: Ear = "left"
    angle_deg: float = 0.0
    """How far the earphone is turned in the ear, from 0 to 90."""
    posture: Posture = "sitting"
    movement: Movement = "still"
    motion: FloatArray | None = field(default=None, repr=False, compare=False)
    """Recorded head motion in m/s² without gravity, ``(3, n)`` at the rate of the scene: it takes
    the place of the synthetic ``movement``, whose name still sets the heart rate."""
    music: Music = "off"
    environment: Environment = "classroom"
    week: float = 0.0
    """How long ago the person was drawn; people drift."""
    removed_at_s: float | None = None
    """When the earphone is taken out and laid on a table."""
    packet_loss: float = 0.0
    """Share of the samples that never arrive."""

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if (value := getattr(self, name)) not in get_args(choices):
                raise ConfigError(f"{name} is one of {', '.join(get_args(choices))}, not {value!r}")
        _demand(1.0 <= self.duration_s <= 86400.0, "duration_s", self.duration_s, "1 to 86400")
        _demand(20.0 <= self.sampling_hz <= 1000.0, "rate_hz", self.rate_hz, "20 to 1000")
        _demand(self.session >= 0, "session", self.session, "0 or more")
        _demand(0.0 <= self.angle_deg <= 90.0, "angle_deg", self.angle_deg, "0 to 90")
        _demand(0.0 <= self.week <= 520.0, "week", self.week, "0 to 520")
        _demand(0.0 <= self.packet_loss < 1.0, "packet_loss", self.packet_loss, "0 to below 1")
        if self.removed_at_s is not None:
            inside = 0.0 <= self.removed_at_s <= self.duration_s
            _demand(inside, "removed_at_s", self.removed_at_s, "within the scene")
        if self.motion is not None:
            _check_motion(self.motion, self.count)

    @property
    def sampling_hz(self) -> float:
        return EARPHONES[self.device].rate_hz if self.rate_hz is None else self.rate_hz

    @property
    def count(self) -> int:
        return round(self.duration_s * self.sampling_hz)


def _demand(held: bool, name: str, value: object, wanted: str) -> None:
    if not held:
        raise ConfigError(f"{name} must be {wanted}, not {value}")


def _check_motion(motion: FloatArray, count: int) -> None:
    if motion.ndim != 2 or motion.shape[0] != 3 or motion.shape[1] < count:
        raise ConfigError(f"motion must have 3 axes of {count} samples, not shape {motion.shape}")
    if not np.isfinite(motion).all():
        raise ConfigError("motion must be finite")
