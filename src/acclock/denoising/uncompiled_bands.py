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
    padded = _mirror(signals - signals.mean(axis=-1, keepdims=True), edge)
    passed = np.fft.irfft(np.fft.rfft(padded) * gain, padded.shape[-1])
    out.reshape(-1, keep)[:] = passed[:, edge + count - keep : edge + count]


def _mirror(signals: FloatArray, edge: int) -> FloatArray:
    """Turn the ends around themselves, as np.pad does with odd reflection in thrice the time."""
    count = signals.shape[-1]
    padded = np.empty((*signals.shape[:-1], count + 2 * edge))
    padded[..., edge : edge + count] = signals
    np.subtract(2 * signals[..., :1], signals[..., edge:0:-1], out=padded[..., :edge])
    before = signals[..., -2 : -edge - 2 : -1]
    np.subtract(2 * signals[..., -1:], before, out=padded[..., edge + count :])
    return padded
