"""The heartbeat in windows that a sporadic event disturbs, by what the wearer's beats were."""

import numpy as np

from acclock.denoising import kernels
from acclock.denoising.config import DenoiseConfig
from acclock.denoising.local_power import measure_local_power
from acclock.denoising.rls import choose_forgetting, filter_adaptively
from acclock.values import FloatArray

_NOTHING = 1e-12
"""In m/s²: what is weaker is not there."""
_STILLEST = 0.1
"""Between two beats the reference is nearly still; Psi divides by no less than this part of it."""


def attenuate(coefficients: FloatArray, powers: FloatArray, config: DenoiseConfig) -> FloatArray:
    r"""Turn each wavelet level down where it is livelier than the wearer's heart makes it.

    .. math:: \hat{w}_j(t) = w_j(t) \min(1, h / \Psi_j(t)^2), \quad
        \Psi_j(t) = \sigma_{x,j}(t) / \sigma_{r,j}

    Ours (docs/decisions/0009): the fluctuation ratio of Sec. 4.2.2, level by level. Nothing is
    amplified, and nothing of the reference enters the result.
    ``powers`` are :math:`\sigma_{r,j}^2` and ``config.headroom`` is h. Before there was a periodic
    stretch ``powers`` are zero, and the calmest quarter of the context serves, half as much again:
    an event that fills less than three quarters of it goes unseen there.
    Shapes: ``(..., levels, n)`` and ``(..., levels)``.
    """
    rows = np.ascontiguousarray(coefficients)
    usual = np.ascontiguousarray(np.broadcast_to(powers, rows.shape[:-1]))
    half = round(config.local_s * config.rate_hz / 2)
    calmer = np.empty_like(rows)
    kernels.attenuate(rows, usual, rows.shape[-1], half, config.headroom, calmer)
    return calmer


def imitate(windows: FloatArray, references: FloatArray, config: DenoiseConfig) -> FloatArray:
    r"""Filter disturbed windows towards the last periodic stretch, as the paper does.

    .. math:: \Psi(t) = \sigma_x(t) / \sigma_r(t)

    Paper: Sec. 4.2.2, the fluctuation ratio. The input is the disturbed window,
    the desired signal is the reference, turned as a ring to where it fits best; both are
    normalized, and the answer has the strength of the reference. Shapes: ``(..., n)`` both.
    """
    desired, strengths = _normalize(_align(references, windows))
    half = round(config.local_s * config.rate_hz / 2)
    moving, resting = (np.sqrt(measure_local_power(x, half)) for x in (windows, desired))
    fluctuation = moving / np.maximum(strengths * np.maximum(resting, _STILLEST), _NOTHING)
    forgetting = choose_forgetting(fluctuation, config)
    return strengths * filter_adaptively(_normalize(windows)[0], desired, forgetting, config)


def _normalize(signals: FloatArray) -> tuple[FloatArray, FloatArray]:
    spreads = signals.std(axis=-1, keepdims=True)
    centered = signals - signals.mean(axis=-1, keepdims=True)
    return centered / np.where(spreads > 0, spreads, 1.0), spreads


def _align(references: FloatArray, windows: FloatArray) -> FloatArray:
    count = windows.shape[-1]
    products = np.fft.irfft(np.fft.rfft(windows) * np.fft.rfft(references).conj(), count)
    places = np.arange(count) - products.argmax(axis=-1)[..., np.newaxis]
    return np.take_along_axis(references, places % count, axis=-1)
