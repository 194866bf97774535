"""The inner loops, compiled where there was a C compiler."""

try:
    from acclock.denoising._kernels import (
        attenuate,
        fade,
        find_peaks,
        median_magnitudes,
        recurse,
    )

    COMPILED = True
except ImportError:
    from acclock.denoising.uncompiled_kernels import (
        attenuate,
        fade,
        find_peaks,
        median_magnitudes,
        recurse,
    )

    COMPILED = False

__all__ = ["COMPILED", "attenuate", "fade", "find_peaks", "median_magnitudes", "recurse"]
