"""What ``_bands.c`` does, in NumPy, for rows of any length."""

import numpy as np

from acclock.values import FloatArray


def pass_band(  # the signature of the compiled twin
    rows: FloatArray,
    count: int,
    edge: int,
    gain: FloatArray,
    _turns: FloatArray,
    keep: int,
    out: FloatArray,
    /,
) -> None:
    """Write the ends of rows, every frequency scaled by its gain."""
    signals = rows.reshape(-1, count)
    centered = signals - signals.mean(axis=-1, keepdims=True)
    padded = np.pad(centered, ((0, 0), (edge, edge)), mode="reflect", reflect_type="odd")
    passed = np.fft.irfft(np.fft.rfft(padded) * gain, padded.shape[-1])
    out.reshape(-1, keep)[:] = passed[:, edge + count - keep : edge + count]
