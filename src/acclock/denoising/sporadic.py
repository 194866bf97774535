"""Stage 2: what disturbs now and then (a blink, a word), and the heartbeat under it."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from acclock.denoising import kernels
from acclock.denoising.config import DenoiseConfig
from acclock.denoising.heart_rate import STRONGEST_BEAT
from acclock.denoising.inherent import Bands, join
from acclock.denoising.kernels import recurse
from acclock.denoising.periodicity import Periodicity, assess_periodicity
from acclock.denoising.uncompiled import measure_local_power
from acclock.values import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """The last periodic stretch of each row, zero where there was none yet.

    Paper: Sec. 4.2.2, where a periodic stretch serves as the reference of later ones.
    """

    windows: FloatArray
    """The stretch after stage 1: ``(rows, n)``."""
    powers: FloatArray
    """Mean square of its wavelet coefficients before shrinkage: ``(rows, levels)``."""

    @classmethod
    def unknown(cls, rows: int, config: DenoiseConfig) -> Self:
        return cls(
            np.zeros((rows, config.window_length)), np.zeros((rows, len(config.kept_levels)))
        )

    @property
    def known(self) -> BoolArray:
        return np.asarray((self.powers > 0).any(axis=-1))

    def remember(self, windows: FloatArray, coefficients: FloatArray, rows: BoolArray) -> Self:
        """Give the reference with these stretches in place of what it knew of ``rows``."""
        if not rows.any():
            return self
        powers = np.square(coefficients[rows]).mean(axis=-1)
        return self._replace(rows, windows[rows], powers)

    def forget(self, rows: BoolArray) -> Self:
        """Give the reference without what it knew of ``rows``: it may be another wearer now."""
        if not rows.any():
            return self
        return self._replace(rows, 0.0, 0.0)

    def _replace(
        self, rows: BoolArray, windows: FloatArray | float, powers: FloatArray | float
    ) -> Self:
        all_windows, all_powers = self.windows.copy(), self.powers.copy()
        all_windows[rows], all_powers[rows] = windows, powers
        return type(self)(all_windows, all_powers)


def choose_forgetting(fluctuation: FloatArray, config: DenoiseConfig) -> FloatArray:
    r"""Give the share of its memory that the filter keeps from one sample to the next.

    .. math:: \alpha_t = e^{-\kappa \Psi(t)}

    Paper: Sec. 4.2.2, Eq. (2), where ``fluctuation`` is :math:`\Psi` and
    ``config.motion_sensitivity`` is :math:`\kappa`. Ours: never below ``least_forgetting``.

    >>> choose_forgetting(np.array([0.0, 1.0, 20.0, 1e9]), DenoiseConfig()).round(3)
    array([1.   , 0.995, 0.905, 0.5  ])
    """
    factors = np.exp(-config.motion_sensitivity * fluctuation)
    return np.maximum(factors, config.least_forgetting)


def filter_adaptively(
    inputs: FloatArray, desired: FloatArray, forgetting: FloatArray, config: DenoiseConfig
) -> FloatArray:
    r"""Give the filter's answer to each input, said before the desired sample was heard.

    .. math::
        k = \frac{P u}{\alpha + u^T P u}, \quad w \leftarrow w + k (d - w^T u), \quad
        P \leftarrow (P - k u^T P) / \alpha

    Paper: Sec. 4.2.2, the updates left out there for brevity; :math:`u` are the last
    ``config.taps`` inputs. Ours: P is kept symmetric, and forgetting may not inflate its trace
    beyond where it began, so that hours of silence do not blow it up.
    All three have the same shape; every row, along the last axis, learns for itself, from nothing.
    """
    heard, wanted, factors = (np.ascontiguousarray(row) for row in (inputs, desired, forgetting))
    answers = np.empty(heard.shape)
    recurse(heard, wanted, factors, heard.shape[-1], config.taps, config.confidence, answers)
    return answers


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


def find_events(
    bands: Bands, cleaned: FloatArray, config: DenoiseConfig
) -> tuple[Periodicity, ...]:
    """Say of each row whether something happened in its window.

    ``cleaned`` are the contexts that stage 1 made of ``bands``.

    Paper: Sec. 4.2.1. Shaking the head and walking are periodic, too. Ours, except for the
    paper's own recovery: what is periodic but much livelier than the calmest quarter of its
    context, or stronger than any heart, is an event, and no reference (docs/decisions/0009).
    """
    seen = [assess_periodicity(row[-config.window_length :], config) for row in cleaned]
    for row, coefficients in enumerate(bands.coefficients):
        if config.recovery != "paper" and seen[row].periodic and _is_lively(coefficients, config):
            seen[row] = replace(seen[row], periodic=False, lively=True)
    return tuple(seen)


def _is_lively(levels: FloatArray, config: DenoiseConfig) -> bool:
    """Say whether the last seconds are too lively for a heart, before anything was shrunk."""
    half = round(config.local_s * config.rate_hz / 2)
    # The level below holds everything twice as often, so its squares count half.
    shares = 0.5 ** np.array(config.kept_levels)
    rms = np.sqrt(shares @ measure_local_power(levels, half))
    most = min(STRONGEST_BEAT, config.most_fluctuation * float(np.quantile(rms, 0.25)))
    return bool(rms[-config.window_length :].max() > most)


def recover(
    bands: Bands, cleaned: FloatArray, reference: Reference, config: DenoiseConfig
) -> FloatArray:
    """Give the windows of rows in which something happened: ``(rows, window)``.

    ``cleaned`` are the contexts that stage 1 made of ``bands``.

    Paper: Sec. 4.2.2, when ``config.recovery`` is ``paper``. Ours otherwise
    (docs/decisions/0009): ``attenuation`` turns single levels down before they are shrunk,
    ``none`` leaves what stage 1 gave.
    """
    length = config.window_length
    windows = cleaned[:, -length:]
    if config.recovery == "none":
        return windows
    if config.recovery == "attenuation":
        calmer = attenuate(bands.coefficients, reference.powers, config)
        return join(Bands(calmer, bands.thresholds), config)[:, -length:]
    known = reference.known[:, np.newaxis]
    before = cleaned[:, -2 * length : -length]
    return imitate(windows, np.where(known, reference.windows, before), config)
