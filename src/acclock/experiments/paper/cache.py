"""Recordings cut into windows, and what else experiments share, kept on disk."""

import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from acclock.pipeline import Preparation, prepare, prepare_contexts
from acclock.pipeline.observation import find_fault
from acclock.system.files import replacing
from acclock.training.batches import cut_context
from acclock.training.grid import Grid, Windows, bring_to, name_grid
from acclock.training.subjects import SubjectSession
from acclock.values import BoolArray, Recording


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

    def learned(self) -> SubjectSession:
        """Give the usable windows, to learn from."""
        grid = Grid(windows=self.windows[self.usable], ends=self.ends[self.usable])
        return SubjectSession(recording=self.recording, grid=grid)


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


_FORMAT = b"1"


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of things that can be made again; without a folder nothing is kept."""

    folder: Path | None

    def find(self, name: str) -> bytes | None:
        """Give what is kept under a name, if anything."""
        file = None if self.folder is None else self.folder / name
        return file.read_bytes() if file is not None and file.is_file() else None

    def keep(self, name: str, packed: bytes) -> None:
        """Put something under a name; processes that do so at once do not harm each other."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(self.folder / name) as file:
                file.write(packed)


NO_CACHE = Cache(None)


def cut_once(
    recording: Recording, preparation: Preparation, *, cache: Cache, session: int = 0
) -> Piece:
    """Cut a recording into windows, or take them as they were cut before."""
    brought = bring_to(recording, preparation.rate_hz)
    name = f"{name_grid(brought, preparation)}.npz"
    if (packed := cache.find(name)) is not None:
        return replace(_unpack(packed, brought), session=session)
    piece = cut(brought, preparation, session=session)
    cache.keep(name, _pack(piece))
    return piece


def digest(parts: Iterable[bytes]) -> str:
    """Give a name for something made of these parts, whatever they are, in this order."""
    whole = hashlib.sha256(_FORMAT)
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()[:32]


def _pack(piece: Piece) -> bytes:
    file = io.BytesIO()
    np.savez(
        file,
        windows=piece.windows,
        ends=piece.ends,
        usable=piece.usable,
        faultless=piece.faultless,
    )
    return file.getvalue()


def _unpack(packed: bytes, recording: Recording) -> Piece:
    with np.load(io.BytesIO(packed), allow_pickle=False) as stored:
        return Piece(
            recording=recording,
            windows=stored["windows"],
            ends=stored["ends"],
            usable=stored["usable"],
            faultless=stored["faultless"],
            session=0,
        )
