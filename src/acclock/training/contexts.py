"""Raw contexts cut from recordings, and the windows that the pipeline makes of them."""

import numpy as np

from acclock.denoising.bandpass import bandpass
from acclock.denoising.context import mend
from acclock.denoising.stages import denoise
from acclock.pipeline import Preparation
from acclock.training.grid import BAND_HZ, Windows
from acclock.values import BoolArray, FloatArray, Recording


def cut_context(recording: Recording, end: int, length: int) -> tuple[FloatArray, BoolArray]:
    """Give the ``length`` samples before ``end``; those before the recording were not received.

    >>> recording = Recording(samples=np.arange(12.0).reshape(3, 4), rate_hz=100.0)
    >>> samples, received = cut_context(recording, 2, 3)
    >>> samples[0], received
    (array([0., 0., 1.]), array([False,  True,  True]))
    """
    start = max(end - length, 0)
    count = end - start
    samples, received = np.zeros((3, length)), np.zeros(length, dtype=bool)
    samples[:, length - count :] = recording.samples[:, start:end]
    received[length - count :] = recording.received[start:end]
    return samples, received


def prepare_contexts(
    contexts: FloatArray, received: BoolArray, preparation: Preparation
) -> Windows:
    """Give the windows at the ends of many contexts, as a stream gives those that it begins with.

    Shapes: ``(n, 3, context)`` and ``(n, context)`` to ``(n, 3, window)``. A stream that has run
    before recovers disturbed windows with what it remembers; here nobody remembers anything.
    """
    config = preparation.config
    mended, _ = mend(contexts, received, rate_hz=config.rate_hz)
    if preparation.name == "bandpass":
        whole = bandpass(mended, rate_hz=config.rate_hz, low_hz=BAND_HZ[0], high_hz=BAND_HZ[1])
        return whole[..., -config.window_length :].astype(np.float32)
    return denoise(mended, config).recovered.astype(np.float32)
