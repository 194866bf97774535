"""In which unit acceleration was written down, and whether gravity is in it."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from acclock.errors import ConfigError, SignalError
from acclock.values import STANDARD_GRAVITY, FloatArray

Unit = Literal["m/s²", "g", "mg", "m/s2"]
"""``m/s2`` is ``m/s²`` for keyboards that lack the raised digit."""
Source = Literal["override", "header", "format", "detected"]

METERS_PER_S2: dict[Unit, float] = {
    "m/s²": 1.0,
    "g": STANDARD_GRAVITY,
    "mg": STANDARD_GRAVITY / 1000.0,
}
_SPELLINGS: dict[str, Unit] = {
    "m/s²": "m/s²", "m/s2": "m/s²", "m/s^2": "m/s²", "m/s/s": "m/s²", "ms-2": "m/s²",
    "m/s**2": "m/s²", "g": "g", "mg": "mg",
}  # fmt: skip
_AT_REST = 0.2
"""How far the length of gravity may be off: bias, motion, and a sensor that is not calibrated."""
_GRAVITY_SHARE = 0.5
"""More than half of gravity in the median length: gravity is in. Real recordings with it lie
above 0.71 g even while running, those without below 0.14 g (docs/decisions/0002)."""
_ENOUGH = 2048
"""So many vectors, evenly spread, tell the typical one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitScale:
    """What the numbers of a recording mean."""

    unit: Unit
    source: Source
    gravity: bool
    """Whether gravity is part of the values."""
    doubt: Unit | None = None
    """Another unit, in which gravity would be just as long as the values are."""

    @property
    def factor(self) -> float:
        """Multiplied by this, the numbers are in m/s²."""
        return METERS_PER_S2[self.unit]


def parse_unit(text: str) -> Unit | None:
    """Give the unit that a text spells, or nothing.

    >>> parse_unit("m/s^2"), parse_unit("G"), parse_unit("°/s")
    ('m/s²', 'g', None)
    """
    return _SPELLINGS.get(text.strip().lower().replace(" ", ""))


def infer_scale(
    samples: FloatArray, *, override: str | None, stated: Unit | None, source: Source
) -> UnitScale:
    """Decide on the unit: the caller's word, then the file's, then the length of gravity.

    >>> lying = np.tile([[0.02], [0.01], [0.99]], 100)
    >>> infer_scale(lying, override=None, stated=None, source="detected").unit
    'g'
    """
    length = median_length(samples)
    likely = _recognize(length)
    if override is not None:
        unit: Unit | None = parse_unit(override)
        source = "override"
        if unit is None:
            raise ConfigError(f"'{override}' is not a unit of acceleration; say g, mg or m/s2")
    elif stated is not None:
        unit = stated
    else:
        unit, source = likely, "detected"
    if unit is None:
        raise SignalError(
            f"the unit cannot be told: the values are typically {length:.3g} long, and gravity "
            "would make them 1 (g), 9.8 (m/s²) or 1000 (mg); say which unit it is"
        )
    gravity = length * METERS_PER_S2[unit] > _GRAVITY_SHARE * STANDARD_GRAVITY
    doubt = likely if likely != unit else None
    return UnitScale(unit=unit, source=source, gravity=gravity, doubt=doubt)


def median_length(samples: FloatArray) -> float:
    """Give the typical length of the acceleration vector, in the unit of the samples."""
    if samples.shape[1] == 0:
        return 0.0
    some = samples[:, :: max(1, samples.shape[1] // _ENOUGH)]
    with np.errstate(over="ignore"):
        return float(np.median(np.sqrt((some**2).sum(axis=0))))


def quietest_second(samples: FloatArray, rate_hz: float) -> float:
    """Give how much the signal moves (root mean square) in its stillest second."""
    length = max(2, round(rate_hz))
    count = samples.shape[1] // length
    if count == 0:
        return float(samples.std())
    seconds = samples[:, : count * length].reshape(3, count, length)
    return float(np.sqrt(seconds.var(axis=2).sum(axis=0)).min())


def _recognize(length: float) -> Unit | None:
    for unit, factor in METERS_PER_S2.items():
        if abs(length * factor / STANDARD_GRAVITY - 1.0) <= _AT_REST:
            return unit
    return None
