"""What lies before a window, of one stream or of many: prepared and judged in one go."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from acclock.denoising.quality import WindowQuality, judge_all
from acclock.errors import ConfigError, SignalError
from acclock.pipeline.preparation import Preparation, make_windows
from acclock.values import BoolArray, FloatArray

_JUDGED = 64
"""Contexts that are judged in one go, those of an age together: many make large groups."""
_AT_ONCE = 16
"""Rows made into windows: fewer are slower for Python's sake, more no longer fit beside the
processor."""


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
class Context:
    """What a window is prepared within, mended. It belongs to the stream that gathered it."""

    samples: FloatArray
    """``(..., axes, n)``."""
    received: BoolArray
    fresh: NDArray[np.intp]
    """How many samples of each wearer came since the last long gap."""
    end: int
    paced: bool
    """Whether the heart rate is read anew."""
    preparation: Preparation
    follow: Callable[["Context"], FloatArray]
    """Gives the window by what the stream remembers of those before."""
    recall: Callable[[Sequence[WindowQuality]], tuple[WindowQuality, ...]]
    """Fills in the heart rates that were not read, by what the stream remembers."""


def prepare_together(contexts: Sequence[Context]) -> list[PreparedWindow]:
    """Prepare the windows of many streams of one preparation, each as if it were alone.

    Contexts of one stream are in the order in which it gathered them.
    """
    if any(one.preparation != contexts[0].preparation for one in contexts):
        raise ConfigError("windows that are prepared together share one preparation")
    starts = range(0, len(contexts), _JUDGED)
    return [
        window for start in starts for window in _prepare_some(contexts[start : start + _JUDGED])
    ]


def _prepare_some(contexts: Sequence[Context]) -> Iterator[PreparedWindow]:
    preparation = contexts[0].preparation
    rows = np.concatenate([_flatten(one.samples) for one in contexts])
    qualities = judge_all(
        rows,
        np.concatenate([one.received.reshape(-1, one.received.shape[-1]) for one in contexts]),
        fresh=np.concatenate([one.fresh.reshape(-1) for one in contexts]),
        config=preparation.config,
        paced=np.repeat([one.paced for one in contexts], [one.fresh.size for one in contexts]),
    )
    if preparation.remembers:
        windows = np.concatenate([_flatten(one.follow(one)) for one in contexts])
    else:
        parts = (rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE))
        windows = np.concatenate([make_windows(part, preparation)[0] for part in parts])
    begin = 0
    for one in contexts:
        end = begin + one.fresh.size
        yield PreparedWindow(
            samples=windows[begin:end].reshape(*one.samples.shape[:-1], -1),
            end_s=one.end / preparation.rate_hz,
            qualities=one.recall(qualities[begin:end]),
        )
        begin = end


def _flatten(samples: FloatArray) -> FloatArray:
    """Give wearers in one row: ``(..., axes, n)`` becomes ``(wearers, axes, n)``."""
    return samples.reshape(-1, *samples.shape[-2:])
