"""Stage 2: what disturbs now and then, a blink, a turn of the head, a word, made small."""

from dataclasses import replace

import numpy as np

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.heart_rate import STRONGEST_BEAT
from acclock.denoising.inherent import Bands, join
from acclock.denoising.local_power import measure_local_power
from acclock.denoising.periodicity import Periodicity, assess_periodicity
from acclock.denoising.recovery import attenuate, imitate
from acclock.denoising.reference import Reference
from acclock.values import FloatArray


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
