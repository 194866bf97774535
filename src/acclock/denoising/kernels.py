"""The inner loops, compiled where there was a C compiler."""

try:
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

    COMPILED = True
except ImportError:
    from acclock.denoising.uncompiled_kernels import (
        attenuate,
        evenness,
        fade,
        find_peaks,
        liveliness,
        median_magnitudes,
        recurse,
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
    "recurse",
    "roughness",
]
