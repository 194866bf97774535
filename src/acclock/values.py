"""What travels through AccLock: arrays by name, and a recording."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from acclock.errors import SignalError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

STANDARD_GRAVITY = 9.80665
"""One g in m/s²."""

Ear = Literal["left", "right"]

_ALL: BoolArray = np.ones(0, dtype=bool)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recording:
    """Tri-axial acceleration on one uniform clock, with its gaps known.

    A sample that never arrived is zero and ``received`` is false there: nothing is invented.

    >>> tilted = Recording(samples=np.ones((3, 400)), rate_hz=100.0)
    >>> tilted.duration_s, tilted.missing_share
    (4.0, 0.0)
    """

    samples: FloatArray
    """Acceleration in m/s², one row per axis: shape ``(3, n)``. Read-only."""
    rate_hz: float
    sampled_hz: float | None = None
    """How often the sensor sampled, where that is not ``rate_hz``: nothing above half of it is in
    the signal, whatever its rate now."""
    received: BoolArray = field(default_factory=lambda: _ALL)
    """Which samples really arrived, all when not given: shape ``(n,)``. Read-only."""
    start: datetime | None = None
    """When the first sample was taken, with its time zone; ``None`` when nobody wrote it down."""
    person: str | None = None
    session: str | None = None
    device: str | None = None
    ear: Ear | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    """Whatever else is known: movement, posture, phone model, sex, age ..."""

    def __post_init__(self) -> None:
        samples = np.array(self.samples, dtype=np.float64, order="C")
        if samples.ndim != 2 or samples.shape[0] != 3:
            raise SignalError(f"a recording has three axes in rows; this has shape {samples.shape}")
        if not np.isfinite(self.rate_hz) or self.rate_hz <= 0:
            raise SignalError(f"a sampling rate is positive; this is {self.rate_hz}")
        if self.sampled_hz is not None and not self.sampled_hz > 0:
            raise SignalError(f"a sensor's sampling rate is positive; this is {self.sampled_hz}")
        count = samples.shape[1]
        received = np.ones(count, bool) if self.received is _ALL else np.array(self.received, bool)
        if received.shape != (count,):
            raise SignalError(
                f"the mask of what was received has shape {received.shape} for {count} samples"
            )
        if not np.isfinite(samples[:, received]).all():
            raise SignalError("the recording holds samples that are not finite numbers")
        if self.start is not None and self.start.tzinfo is None:
            raise SignalError("the start of a recording needs its time zone")
        samples[:, ~received] = 0.0
        samples.flags.writeable = received.flags.writeable = False
        object.__setattr__(self, "samples", samples)
        object.__setattr__(self, "received", received)
        object.__setattr__(self, "labels", MappingProxyType(dict(self.labels)))

    def __reduce__(self) -> tuple[object, ...]:
        """Travel to other processes as its parts: read-only labels cannot leave as they are."""
        parts = {one.name: getattr(self, one.name) for one in fields(self)}
        return _rebuild, (parts | {"labels": dict(self.labels)},)

    def __len__(self) -> int:
        return int(self.samples.shape[1])

    @property
    def duration_s(self) -> float:
        return len(self) / self.rate_hz

    @property
    def native_rate_hz(self) -> float:
        """How often the sensor sampled."""
        return self.rate_hz if self.sampled_hz is None else self.sampled_hz

    @property
    def missing_share(self) -> float:
        return 1.0 - float(self.received.mean()) if len(self) else 0.0


def _rebuild(parts: dict[str, Any]) -> Recording:
    return Recording(**parts)
