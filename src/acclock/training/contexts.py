"""Raw contexts, cut from recordings."""

import numpy as np

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
