"""The inner loops, compiled where there was a C compiler."""

try:
    from acclock.denoising._bands import pass_band
    from acclock.denoising._kernels import (
        attenuate,
        evenness,
        fade,
        find_peaks,
        liveliness,
        median_magnitudes,
        recurse,
        roughness,
    )
    from acclock.denoising._rhythm import resemble

    COMPILED = True
except ImportError:
    from acclock.denoising.uncompiled import (
        attenuate,
        evenness,
        fade,
        find_peaks,
        liveliness,
        median_magnitudes,
        pass_band,
        recurse,
        resemble,
        roughness,
    )

    COMPILED = False

__all__ = [
    "COMPILED",
    "attenuate",
    "evenness",
    "fade",
    "find_peaks",
    "liveliness",
    "median_magnitudes",
    "pass_band",
    "recurse",
    "resemble",
    "roughness",
]
