"""Chunks as they come in, windows ready for the encoder out."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from acclock.acquisition.windows import MaskedRing, all_of
from acclock.denoising.context import is_sample, mend
from acclock.denoising.heart_rate import UNREAD
from acclock.denoising.quality import WARM_UP_S, WindowQuality
from acclock.denoising.sporadic import Reference
from acclock.denoising.stages import Stages, denoise
from acclock.errors import ConfigError, SignalError
from acclock.pipeline.contexts import Context, PreparedWindow, prepare_together
from acclock.pipeline.preparation import Preparation, make_windows
from acclock.values import BoolArray, FloatArray


class StreamingDenoiser:
    """Chunks of any size in, prepared windows out, as if all had come at once.

    A chunk is ``(axes, n)``, or ``(..., axes, n)`` for many wearers who share a clock. The first
    window comes when one is full, and then one every ``step_s``; each is prepared within the
    20 s before its end. What is not finite counts as lost. A gap of more than half a second
    begins anew: the windows until 8 s after it are marked, and the reference is forgotten
    (docs/decisions/0006). Rhythms are read once a second, the rate from 20 s: windows in between
    have that of the one before (docs/decisions/0040). Memory and work per second stay the same
    however long it runs.
    """

    def __init__(self, preparation: Preparation, *, step_s: float = 1.0) -> None:
        self._preparation, self._config = preparation, preparation.config
        self._step = round(step_s * preparation.rate_hz) if 0 < step_s <= WARM_UP_S else 0
        if not self._step:
            raise ConfigError(f"a step lasts up to {WARM_UP_S:g} s, not {step_s}")
        length = self._config.context_length
        self._ring = MaskedRing(length=length, step=self._step)
        self._end: int | None = None
        self._reference: Reference | None = None
        self._read: tuple[WindowQuality, ...] = ()

    def push(self, chunk: FloatArray, received: BoolArray | None = None) -> list[PreparedWindow]:
        """Take a chunk, with which samples arrived, and give the windows that it completes."""
        return prepare_together(self.gather(chunk, received))

    def explain(self, chunk: FloatArray, received: BoolArray | None = None) -> list[Stages]:
        """Do as ``push`` does, but give what each stage made of the windows."""
        return [self._denoise(context) for context in self.gather(chunk, received)]

    def gather(self, chunk: FloatArray, received: BoolArray | None = None) -> list[Context]:
        """Take a chunk and give the contexts of the windows that it completes.

        Whoever listens to many streams hands those of all to ``prepare_together``.
        """
        samples, arrived = _check_chunk(chunk, received)
        if self._end is None:
            self._end = self._config.window_length
            before = self._config.context_length - self._config.window_length
            nothing = np.zeros((*samples.shape[:-1], before))
            self._ring.push(nothing, np.zeros((*arrived.shape[:-1], before), dtype=bool))
        contexts = []
        for holed, mask in self._ring.push(samples, arrived):
            mended, fresh = self._mend(holed, mask)
            contexts.append(
                Context(
                    samples=mended,
                    received=mask,
                    fresh=fresh,
                    end=self._end,
                    paced=self._is_paced(self._end),
                    preparation=self._preparation,
                    follow=self._prepare,
                    recall=self._recall,
                )
            )
            self._end += self._step
        return contexts

    def _mend(self, holed: FloatArray, mask: BoolArray) -> tuple[FloatArray, NDArray[np.intp]]:
        if mask is all_of(mask.shape):  # nearly always, and looking takes longer than asking
            return holed, np.full(mask.shape[:-1], mask.shape[-1], dtype=np.intp)
        return mend(holed, mask, rate_hz=self._config.rate_hz)

    def _is_paced(self, end: int) -> bool:
        """Say whether a window is the first that ends in its second."""
        rate_hz = self._config.rate_hz
        return end == self._config.window_length or end // rate_hz > (end - self._step) // rate_hz

    def _recall(self, qualities: Sequence[WindowQuality]) -> tuple[WindowQuality, ...]:
        """Give every wearer the rhythm that was read last."""
        known = self._read or qualities
        self._read = tuple(
            replace(new, heart_rate=old.heart_rate, regularity=old.regularity)
            if new.heart_rate is UNREAD
            else new
            for new, old in zip(qualities, known, strict=True)
        )
        return self._read

    def _prepare(self, context: Context) -> FloatArray:
        """Give the window at the end of one context, by what the ones before left behind."""
        samples, left = make_windows(context.samples, self._preparation, self._reference)
        self._remember(left, context)
        return samples

    def _denoise(self, context: Context) -> Stages:
        stages = denoise(context.samples, self._config, self._reference)
        self._remember(stages.reference, context)
        return stages

    def _remember(self, reference: Reference | None, context: Context) -> None:
        """Keep what a window left behind, but for the rows whose wearer may be another now."""
        if reference is not None:
            cold = context.fresh < WARM_UP_S * self._config.rate_hz
            rows = np.broadcast_to(cold[..., np.newaxis], context.samples.shape[:-1])
            self._reference = reference.forget(rows.reshape(-1))


def _check_chunk(chunk: FloatArray, received: BoolArray | None) -> tuple[FloatArray, BoolArray]:
    samples = np.asarray(chunk, dtype=np.float64)
    if samples.ndim < 2 or 0 in samples.shape[:-1]:
        raise SignalError(f"a chunk has axes in rows; this has shape {samples.shape}")
    shape = (*samples.shape[:-2], samples.shape[-1])
    arrived = np.ones(shape, dtype=bool) if received is None else np.asarray(received, dtype=bool)
    if arrived.shape != shape:
        raise SignalError(f"the mask of a chunk has shape {shape}, not {arrived.shape}")
    sound = is_sample(samples)
    if sound.all():  # nearly always
        return samples, arrived
    return np.where(sound, samples, 0.0), arrived & sound.all(axis=-2)
