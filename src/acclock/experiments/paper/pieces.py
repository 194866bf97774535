"""Recordings cut into windows, once for all that is done with them."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from acclock.pipeline import Preparation, prepare, prepare_contexts
from acclock.training.contexts import cut_context
from acclock.training.grid import Grid, Windows
from acclock.training.rates import bring_to
from acclock.training.subjects import Session
from acclock.values import BoolArray, Recording
from acclock.world.wearing import find_fault


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Piece:
    """The windows of one recording, end to end, as the live stream gives them."""

    recording: Recording
    windows: Windows
    ends: NDArray[np.intp]
    usable: BoolArray
    """Which windows hold a signal worth learning from."""
    faultless: BoolArray
    """Which windows are not turned away when somebody is recognized."""
    session: int

    def __len__(self) -> int:
        return len(self.ends)

    def learned(self) -> Session:
        """Give the usable windows, to learn from."""
        grid = Grid(windows=self.windows[self.usable], ends=self.ends[self.usable])
        return Session(recording=self.recording, grid=grid)


def cut(recording: Recording, preparation: Preparation, *, session: int = 0) -> Piece:
    """Cut a recording, at the rate of the preparation, into windows that do not overlap."""
    brought = bring_to(recording, preparation.rate_hz)
    config = preparation.config
    prepared = prepare(brought, preparation, step_s=config.window_s)
    shape = (-1, 3, config.window_length)
    return Piece(
        recording=brought,
        windows=np.array([one.samples for one in prepared], dtype=np.float32).reshape(shape),
        ends=np.array([round(one.end_s * brought.rate_hz) for one in prepared], dtype=np.intp),
        usable=np.array([one.quality.usable for one in prepared], dtype=bool),
        faultless=np.array([find_fault(one.quality) is None for one in prepared], dtype=bool),
        session=session,
    )


def cut_windows(recording: Recording, preparation: Preparation) -> Windows:
    """Give the windows that ``cut`` gives, without judging them.

    Judging is most of the work. What only band-passes remembers nothing from one window to the
    next, so all of them can be made at once.
    """
    brought, config = bring_to(recording, preparation.rate_hz), preparation.config
    ends = range(config.window_length, len(brought) + 1, config.window_length)
    if preparation.name != "bandpass" or not ends:
        return cut(brought, preparation).windows
    contexts = [cut_context(brought, end, config.context_length) for end in ends]
    samples, received = zip(*contexts, strict=True)
    return prepare_contexts(np.stack(samples), np.stack(received), preparation).astype(np.float32)


def lose(recording: Recording, share: float, chance: np.random.Generator) -> Recording:
    """Give a recording of which this share of the samples, each by chance, never arrived.

    Paper: Sec. 7.4.9.
    """
    arrived = chance.random(len(recording)) >= share
    return replace(recording, received=recording.received & arrived)
