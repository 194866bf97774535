"""What experiments share, kept on disk under names that change with what it was made of."""

import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from acclock.experiments.paper.pieces import Piece, cut
from acclock.pipeline import Preparation
from acclock.training.grid import name_grid
from acclock.training.rates import bring_to
from acclock.values import Recording
from acclock.world.replacing import replacing

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
