"""The one place where the stages meet: acceleration in, prepared windows out.

Training, enrollment and the live stream all prepare their windows here.
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from acclock.acquisition.windows import Ring
from acclock.denoising.bandpass import bandpass
from acclock.denoising.config import DenoiseConfig, Recovery
from acclock.denoising.context import is_sample, mend
from acclock.denoising.quality import WARM_UP_S, WindowQuality, judge
from acclock.denoising.reference import Reference
from acclock.denoising.stages import Stages, denoise
from acclock.denoising.trace import Trace, lay_end_to_end
from acclock.errors import ConfigError, SignalError, TooShortError
from acclock.values import BoolArray, FloatArray, Recording

PreparationName = Literal["two-stage", "paper", "bandpass"]

_RECOVERIES: dict[PreparationName, Recovery] = {
    "two-stage": "attenuation",
    "paper": "paper",
    "bandpass": "none",
}
_LOW_HZ, _HIGH_HZ = 0.8, 40.0
"""What the plain band-pass keeps: on real hearts it kept more identity than the paper's chain."""


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

    def __post_init__(self) -> None:
        if self.name not in _RECOVERIES:
            names = ", ".join(get_args(PreparationName))
            raise ConfigError(f"a preparation is one of {names}, not {self.name!r}")
        DenoiseConfig.at_rate(self.rate_hz)

    @property
    def config(self) -> DenoiseConfig:
        return DenoiseConfig.at_rate(self.rate_hz, recovery=_RECOVERIES[self.name])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PreparedWindow:
    """One window of every wearer, ready for the encoder."""

    samples: FloatArray
    """``(..., axes, n)``, with the wearers that the chunks had before their axes."""
    end_s: float
    """When the window ended, since the stream began."""
    qualities: tuple[WindowQuality, ...]
    """One for each wearer."""

    @property
    def quality(self) -> WindowQuality:
        if len(self.qualities) != 1:
            raise SignalError(f"this window has {len(self.qualities)} wearers; ask `qualities`")
        return self.qualities[0]


@dataclass(frozen=True, slots=True, eq=False)
class _Context:
    samples: FloatArray
    received: BoolArray
    fresh: NDArray[np.intp]
    end: int


class StreamingDenoiser:
    """Chunks of any size in, prepared windows out, as if all had come at once.

    A chunk is ``(axes, n)``, or ``(..., axes, n)`` for many wearers who share a clock. The first
    window comes when one is full, and then one every ``step_s``; each is prepared within the
    20 s before its end. What is not finite counts as lost. A gap of more than half a second
    begins anew: the windows until 8 s after it are marked, and the reference is forgotten
    (docs/decisions/0006). Memory and work per second stay the same however long it runs.
    """

    def __init__(self, preparation: Preparation, *, step_s: float = 1.0) -> None:
        self._name, self._config = preparation.name, preparation.config
        self._step = round(step_s * preparation.rate_hz) if 0 < step_s <= WARM_UP_S else 0
        if not self._step:
            raise ConfigError(f"a step lasts up to {WARM_UP_S:g} s, not {step_s}")
        length = self._config.context_length
        self._samples: Ring[np.float64] = Ring(length=length, step=self._step)
        self._received: Ring[np.bool_] = Ring(length=length, step=self._step)
        self._end: int | None = None
        self._reference: Reference | None = None

    def push(self, chunk: FloatArray, received: BoolArray | None = None) -> list[PreparedWindow]:
        """Take a chunk, with which samples arrived, and give the windows that it completes."""
        return [self._prepare(context) for context in self._advance(chunk, received)]

    def explain(self, chunk: FloatArray, received: BoolArray | None = None) -> list[Stages]:
        """Do as ``push`` does, but give what each stage made of the windows."""
        return [self._denoise(context) for context in self._advance(chunk, received)]

    def _advance(self, chunk: FloatArray, received: BoolArray | None) -> list[_Context]:
        samples, arrived = _check_chunk(chunk, received)
        if self._end is None:
            self._end = self._config.window_length
            before = self._config.context_length - self._config.window_length
            self._samples.push(np.zeros((*samples.shape[:-1], before)))
            self._received.push(np.zeros((*arrived.shape[:-1], before), dtype=bool))
        contexts = []
        whole = zip(self._samples.push(samples), self._received.push(arrived), strict=True)
        for holed, mask in whole:
            mended, fresh = mend(holed, mask, rate_hz=self._config.rate_hz)
            contexts.append(_Context(mended, mask, fresh, self._end))
            self._end += self._step
        return contexts

    def _prepare(self, context: _Context) -> PreparedWindow:
        config = self._config
        qualities = tuple(
            judge(context.samples[who], context.received[who], fresh=int(fresh), config=config)
            for who, fresh in np.ndenumerate(context.fresh)
        )
        if self._name == "bandpass":
            samples = _bandpass(context.samples, config)
        else:
            samples = self._denoise(context).recovered.copy()  # and let go of the context
        return PreparedWindow(
            samples=samples, end_s=context.end / config.rate_hz, qualities=qualities
        )

    def _denoise(self, context: _Context) -> Stages:
        stages = denoise(context.samples, self._config, self._reference)
        cold = context.fresh < WARM_UP_S * self._config.rate_hz
        rows = np.broadcast_to(cold[..., np.newaxis], context.samples.shape[:-1])
        self._reference = stages.reference.forget(rows.reshape(-1))
        return stages


def prepare(
    recording: Recording, preparation: Preparation, *, step_s: float = 1.0
) -> list[PreparedWindow]:
    """Give the windows of a whole recording, the same as a stream would have given.

    >>> still = Recording(samples=np.ones((3, 1000)), rate_hz=100.0)
    >>> [window.end_s for window in prepare(still, Preparation(), step_s=2.0)]
    [4.0, 6.0, 8.0, 10.0]
    """
    _check_rate(recording, preparation)
    stream = StreamingDenoiser(preparation, step_s=step_s)
    return stream.push(recording.samples, recording.received)


def trace(recording: Recording, preparation: Preparation) -> Trace:
    """Give a recording after each step of the two stages, in windows laid end to end.

    What is left over at the end, less than a window, is left out.
    """
    _check_rate(recording, preparation)
    config = preparation.config
    whole = len(recording) // config.window_length
    if not whole:
        raise TooShortError(have_s=recording.duration_s, need_s=config.window_s)
    stream = StreamingDenoiser(preparation, step_s=config.window_s)
    chunks = (slice(n * config.window_length, (n + 1) * config.window_length) for n in range(whole))
    return lay_end_to_end(
        stages
        for chunk in chunks
        for stages in stream.explain(recording.samples[:, chunk], recording.received[chunk])
    )


def clean(recording: Recording, preparation: Preparation | None = None) -> Recording:
    """Give the heartbeat of a recording: both stages, in windows laid end to end.

    What is left over at the end, less than a window, is left out.

    >>> noise = np.random.default_rng(0).normal(size=(3, 1000))
    >>> len(clean(Recording(samples=noise, rate_hz=100.0)))
    800
    """
    chosen = preparation or Preparation(rate_hz=recording.rate_hz)
    heartbeat = trace(recording, chosen).recovered
    received = recording.received[: heartbeat.shape[-1]]
    return replace(recording, samples=heartbeat, received=received)


def _bandpass(contexts: FloatArray, config: DenoiseConfig) -> FloatArray:
    whole = bandpass(contexts, rate_hz=config.rate_hz, low_hz=_LOW_HZ, high_hz=_HIGH_HZ)
    return whole[..., -config.window_length :].copy()


def _check_rate(recording: Recording, preparation: Preparation) -> None:
    if recording.rate_hz != preparation.rate_hz:
        raise SignalError(
            f"the recording has {recording.rate_hz:g} samples a second; "
            f"this needs {preparation.rate_hz:g}"
        )


def _check_chunk(chunk: FloatArray, received: BoolArray | None) -> tuple[FloatArray, BoolArray]:
    samples = np.asarray(chunk, dtype=np.float64)
    if samples.ndim < 2 or 0 in samples.shape[:-1]:
        raise SignalError(f"a chunk has axes in rows; this has shape {samples.shape}")
    shape = (*samples.shape[:-2], samples.shape[-1])
    arrived = np.ones(shape, dtype=bool) if received is None else np.asarray(received, dtype=bool)
    if arrived.shape != shape:
        raise SignalError(f"the mask of a chunk has shape {shape}, not {arrived.shape}")
    sound = is_sample(samples)
    return np.where(sound, samples, 0.0), arrived & sound.all(axis=-2)
