"""The two stages in a row: contexts in, windows of heartbeat out, with a trace of every step."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.context import check_contexts, close_ring
from acclock.denoising.inherent import Bands, bank_of, join, split
from acclock.denoising.periodicity import IndexArray, Periodicity
from acclock.denoising.sporadic import Reference, find_events, recover
from acclock.values import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stages:
    """One window of each row, as it was after each step. Shapes: ``(..., window)``."""

    config: DenoiseConfig
    raw: FloatArray
    bands: Bands
    """The kept wavelet levels of the whole contexts."""
    shrunk: FloatArray
    """The end of stage 1."""
    periodicity: tuple[Periodicity, ...]
    """What the event detector saw, row by row."""
    recovered: FloatArray
    """The end of stage 2: the same as ``shrunk`` where that is periodic."""
    reference: Reference
    """What to hand over with the next contexts of the same rows."""

    @property
    def wavelet(self) -> FloatArray:
        """The kept levels put together again, before anything was shrunk."""
        whole = bank_of(self.config).recompose(self.bands.coefficients)
        return whole[:, -self.config.window_length :].reshape(self.raw.shape)

    @property
    def periodic(self) -> BoolArray:
        """Which rows passed the event detector."""
        return _flags(self.periodicity).reshape(self.raw.shape[:-1])


def denoise(
    contexts: FloatArray, config: DenoiseConfig, reference: Reference | None = None
) -> Stages:
    """Denoise contexts by both stages and cut the window off their end.

    Takes ``(..., n)`` with ``n = config.context_length``: axes and wearers are rows that know
    nothing of each other. ``reference`` is what the contexts before left behind.

    Paper: Sec. 4.

    >>> acceleration = np.random.default_rng(1).normal(size=(3, 2048))
    >>> denoise(acceleration, DenoiseConfig()).recovered.shape
    (3, 400)
    """
    checked = check_contexts(contexts, config.context_length)
    length = config.window_length
    shape = (*checked.shape[:-1], length)
    bands = split(close_ring(checked.reshape(-1, config.context_length)), config)
    cleaned = join(bands, config)
    shrunk = cleaned[:, -length:]
    periodicity = find_events(bands, cleaned, config)
    periodic = _flags(periodicity)
    known = reference or Reference.unknown(len(shrunk), config)
    return Stages(
        config=config,
        raw=checked[..., -length:],
        bands=bands,
        shrunk=shrunk.reshape(shape),
        periodicity=periodicity,
        recovered=_recover_some(~periodic, bands, cleaned, known, config).reshape(shape),
        reference=known.remember(shrunk, bands.coefficients[..., -length:], periodic),
    )


def _recover_some(
    rows: BoolArray, bands: Bands, cleaned: FloatArray, known: Reference, config: DenoiseConfig
) -> FloatArray:
    if rows.all():  # the usual case for one row: spare the copies
        return recover(bands, cleaned, known, config)
    windows = cleaned[:, -config.window_length :].copy()
    if rows.any():
        some = Bands(bands.coefficients[rows], bands.thresholds[rows])
        of_them = Reference(known.windows[rows], known.powers[rows])
        windows[rows] = recover(some, cleaned[rows], of_them, config)
    return windows


def _flags(periodicity: tuple[Periodicity, ...]) -> BoolArray:
    return np.array([seen.periodic for seen in periodicity], dtype=bool)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """Windows laid end to end: every array is ``(axes, n)``, in m/s²."""

    rate_hz: float
    window_s: float
    raw: FloatArray
    wavelet: FloatArray
    """The kept wavelet levels."""
    shrunk: FloatArray
    """The same, with what is small in each level faded away: the end of stage 1."""
    recovered: FloatArray
    """The end of stage 2: windows with an event recovered, the others as they were."""
    periodicity: tuple[tuple[Periodicity, ...], ...]
    """What the event detector saw: one row per window, one entry per axis."""

    def peaks(self, axis: int) -> IndexArray:
        """Give where the event detector saw the peaks of one axis."""
        length = round(self.window_s * self.rate_hz)
        found = [seen[axis].peaks + n * length for n, seen in enumerate(self.periodicity)]
        return np.concatenate([np.empty(0, np.intp), *found])


def lay_end_to_end(stages: Iterable[Stages]) -> Trace:
    """Give the trace of windows that follow each other without overlap.

    Only the windows are kept, so an iterator of any length may come.
    """
    pieces = [(s.config, s.raw, s.wavelet, s.shrunk, s.recovered, s.periodicity) for s in stages]
    configs, raw, wavelet, shrunk, recovered, periodicity = zip(*pieces, strict=True)
    return Trace(
        rate_hz=configs[0].rate_hz,
        window_s=configs[0].window_s,
        raw=np.concatenate(raw, axis=-1),
        wavelet=np.concatenate(wavelet, axis=-1),
        shrunk=np.concatenate(shrunk, axis=-1),
        recovered=np.concatenate(recovered, axis=-1),
        periodicity=periodicity,
    )
