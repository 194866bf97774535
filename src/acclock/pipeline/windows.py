"""Where a raw context becomes a window: the same lines for the stream and for training."""

from acclock.denoising.bandpass import bandpass
from acclock.denoising.context import mend
from acclock.denoising.reference import Reference
from acclock.denoising.stages import denoise
from acclock.pipeline.preparation import BAND_HZ, Preparation
from acclock.values import BoolArray, FloatArray


def make_windows(
    contexts: FloatArray, preparation: Preparation, reference: Reference | None = None
) -> tuple[FloatArray, Reference | None]:
    """Give the windows at the ends of contexts without holes, and what to remember of them.

    ``(..., axes, context)`` becomes ``(..., axes, window)``. ``reference`` is what the contexts
    before left behind; the plain band-pass remembers nothing.
    """
    config = preparation.config
    if preparation.name == "bandpass":
        low_hz, high_hz = BAND_HZ
        length = config.window_length
        windows = bandpass(
            contexts, rate_hz=config.rate_hz, low_hz=low_hz, high_hz=high_hz, last=length
        )
        return windows, None
    stages = denoise(contexts, config, reference)
    return stages.recovered.copy(), stages.reference  # a copy lets go of the context


def prepare_contexts(
    contexts: FloatArray, received: BoolArray, preparation: Preparation
) -> FloatArray:
    """Give the windows at the ends of many raw contexts, as a stream gives its first ones.

    Shapes: ``(..., axes, context)`` and ``(..., context)`` to ``(..., axes, window)``. A stream
    that has run before recovers disturbed windows with what it remembers; here nobody remembers
    anything.
    """
    mended, _ = mend(contexts, received, rate_hz=preparation.rate_hz)
    return make_windows(mended, preparation)[0]
