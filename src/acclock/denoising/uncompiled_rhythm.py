"""What ``_rhythm.c`` does, in NumPy: at all lags at once, by Fourier transforms."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from acclock.values import FloatArray


def resemble(  # the signature of the compiled twin
    rows: FloatArray, count: int, block: int, hop: int, lag: int, out: FloatArray, /
) -> None:
    """Write how well rows repeat themselves, as a mean over their blocks."""
    blocks = sliding_window_view(rows.reshape(-1, count), block, axis=-1)[:, ::hop]
    centered = blocks - blocks.mean(axis=-1, keepdims=True)
    energies = np.einsum("wbn,wbn->wb", centered, centered)[..., np.newaxis]
    spectra = np.fft.rfft(centered, 2 * block)
    powers = np.square(spectra.real) + np.square(spectra.imag)
    # added up before they are transformed back, which is the same and a third of the work
    np.divide(powers, energies, out=powers, where=energies > 0)
    powers[(energies == 0)[..., 0]] = 0.0
    total = np.fft.irfft(powers.sum(axis=1), 2 * block)[:, :block]
    likeness = total / blocks.shape[1] / (1.0 - np.arange(block) / block)
    out[:] = likeness[:, lag : lag + out.shape[-1]]
