"""How a window is made ready for the encoder: a choice that has a name."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, Self, get_args

from acclock.denoising.bandpass import bandpass
from acclock.denoising.config import DenoiseConfig, Recovery
from acclock.denoising.context import mend
from acclock.denoising.sporadic import Reference
from acclock.denoising.stages import denoise
from acclock.embedding.card import Card
from acclock.errors import ConfigError
from acclock.values import BoolArray, FloatArray

PreparationName = Literal["two-stage", "paper", "bandpass"]

BAND_HZ = (0.8, 40.0)
"""What the plain band-pass keeps: on real hearts it kept more identity than the paper's chain."""

_RECOVERIES: dict[PreparationName, Recovery] = {
    "two-stage": "attenuation",
    "paper": "paper",
    "bandpass": "none",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """How a window is made ready for the encoder, by the name that the model's file carries.

    ``two-stage`` is the paper's chain with our recovery of disturbed windows
    (docs/decisions/0009), ``paper`` the same chain with the paper's own, ``bandpass`` a plain
    band-pass of 0.8-40 Hz. All of them cut the window off the end of the same trailing context.

    >>> Preparation(name="paper").config.context_length
    2048
    """

    name: PreparationName = "two-stage"
    rate_hz: float = 100.0
    window_s: float = 4.0
    """How long a window is. Sessions decide on 4 s; other lengths are for experiments."""

    def __post_init__(self) -> None:
        if self.name not in _RECOVERIES:
            names = ", ".join(get_args(PreparationName))
            raise ConfigError(f"a preparation is one of {names}, not {self.name!r}")
        _ = self.config

    @classmethod
    def of(cls, card: Card) -> Self:
        """Give the preparation that a model's card names, if there is one of that name."""
        name: PreparationName = card.preparation  # type: ignore[assignment]  # looked at when made
        return cls(name=name, rate_hz=card.rate_hz)

    @property
    def remembers(self) -> bool:
        """Whether a window depends on the ones before it, beyond its context."""
        return self.name != "bandpass"

    @property
    def config(self) -> DenoiseConfig:
        return _configure(self.name, self.rate_hz, self.window_s)


@lru_cache(maxsize=32)  # every window of a stream asks for the same one
def _configure(name: PreparationName, rate_hz: float, window_s: float) -> DenoiseConfig:
    return replace(DenoiseConfig.at_rate(rate_hz, recovery=_RECOVERIES[name]), window_s=window_s)


def make_windows(
    contexts: FloatArray, preparation: Preparation, reference: Reference | None = None
) -> tuple[FloatArray, Reference | None]:
    """Give the windows at the ends of contexts without holes, and what to remember of them.

    ``(..., axes, context)`` becomes ``(..., axes, window)``. ``reference`` is what the contexts
    before left behind; the plain band-pass remembers nothing.
    """
    config = preparation.config
    if preparation.name == "bandpass":
        low_hz, high_hz = BAND_HZ
        length = config.window_length
        windows = bandpass(
            contexts, rate_hz=config.rate_hz, low_hz=low_hz, high_hz=high_hz, last=length
        )
        return windows, None
    stages = denoise(contexts, config, reference)
    return stages.recovered.copy(), stages.reference  # a copy lets go of the context


def prepare_contexts(
    contexts: FloatArray, received: BoolArray, preparation: Preparation
) -> FloatArray:
    """Give the windows at the ends of many raw contexts, as a stream gives its first ones.

    Shapes: ``(..., axes, context)`` and ``(..., context)`` to ``(..., axes, window)``. A stream
    that has run before recovers disturbed windows with what it remembers; here nobody remembers
    anything.
    """
    mended, _ = mend(contexts, received, rate_hz=preparation.rate_hz)
    return make_windows(mended, preparation)[0]
