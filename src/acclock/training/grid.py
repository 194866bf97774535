"""A recording's clean windows, one after the other, prepared once and for all."""

import hashlib
import io
import json
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from acclock.errors import UnreadableError
from acclock.pipeline import BAND_HZ, Preparation, prepare
from acclock.values import Recording

FORMAT = 1

Windows = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """The windows of a recording that hold a signal, end to end, as the live stream gives them."""

    windows: Windows
    """``(n, 3, length)``."""
    ends: NDArray[np.intp]
    """The sample behind the last of each window."""

    def __len__(self) -> int:
        return len(self.ends)


def lay_grid(recording: Recording, preparation: Preparation) -> Grid:
    """Prepare the windows of a recording that do not overlap, and keep those that are usable."""
    prepared = prepare(recording, preparation, step_s=preparation.config.window_s)
    kept = [window for window in prepared if window.quality.usable]
    length = preparation.config.window_length
    return Grid(
        windows=np.array([one.samples for one in kept], dtype=np.float32).reshape(-1, 3, length),
        ends=np.array([round(one.end_s * recording.rate_hz) for one in kept], dtype=np.intp),
    )


def name_grid(recording: Recording, preparation: Preparation) -> str:
    """Give the name of a recording's grid: another sample, or another setting, is another name."""
    digest = hashlib.sha256(f"{FORMAT} {fingerprint(preparation)} {recording.rate_hz}".encode())
    digest.update(recording.samples.tobytes())
    digest.update(recording.received.tobytes())
    return digest.hexdigest()[:32]


def fingerprint(preparation: Preparation) -> str:
    """Give a name to a preparation with all its settings: equal ones have equal names."""
    config = preparation.config
    settings = asdict(config)
    if preparation.name == "bandpass":  # the settings of the two stages do nothing to it
        settings = {"lengths": (config.window_length, config.context_length), "band_hz": BAND_HZ}
    settings |= {"preparation": preparation.name, "rate_hz": preparation.rate_hz}
    told = json.dumps(settings, sort_keys=True, default=sorted)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def pack_grid(grid: Grid) -> bytes:
    """Write a grid down."""
    file = io.BytesIO()
    np.savez(file, windows=grid.windows, ends=grid.ends)
    return file.getvalue()


def unpack_grid(packed: bytes) -> Grid:
    """Read a grid back."""
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as stored:
            return Grid(windows=stored["windows"], ends=stored["ends"])
    except (ValueError, KeyError, OSError, EOFError) as error:
        raise UnreadableError("these bytes are not the windows of a recording") from error
