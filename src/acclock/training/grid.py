"""A recording's clean windows, one after the other, prepared once and for all."""

import hashlib
import io
import json
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from acclock.acquisition.even import change_rate
from acclock.errors import ConfigError, UnreadableError
from acclock.pipeline import BAND_HZ, Preparation, prepare
from acclock.values import Recording

RECORDED_HZ = 100.0
"""At which recordings are read, before they are brought to the rate of a recipe."""


def bring_to(recording: Recording, rate_hz: float) -> Recording:
    """Give a recording at a lower rate: one in two or four samples, or filtered and resampled.

    Paper: Sec. 7.4.8, where 75 Hz come from 100 Hz by a polyphase filter and 50 and 25 Hz by
    leaving samples out, without a filter: what lies above the new Nyquist frequency folds back.

    >>> import numpy as np
    >>> recording = Recording(samples=np.arange(24.0).reshape(3, 8), rate_hz=100.0)
    >>> bring_to(recording, 25.0).samples[0]
    array([0., 4.])
    """
    factor = recording.rate_hz / rate_hz
    if factor < 1:
        raise ConfigError(
            f"a recording at {recording.rate_hz:g} Hz cannot be thinned out to {rate_hz:g} Hz"
        )
    if factor != round(factor):
        even = change_rate(recording, rate_hz)
        return replace(
            recording, samples=even.samples, received=even.received, rate_hz=even.rate_hz
        )
    step = round(factor)
    return replace(
        recording,
        samples=recording.samples[:, ::step],
        received=recording.received[::step],
        rate_hz=rate_hz,
    )


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
