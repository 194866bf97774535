"""Recordings at the rates of the paper's study."""

from dataclasses import replace

from acclock.acquisition.even import change_rate
from acclock.errors import ConfigError
from acclock.values import Recording

RECORDED_HZ = 100.0
"""At which recordings are read, before they are brought to the rate of a recipe."""


def bring_to(recording: Recording, rate_hz: float) -> Recording:
    """Give a recording at a lower rate: one in two or four samples, or filtered and resampled.

    Paper: Sec. 7.4.8, where 75 Hz come from 100 Hz by a polyphase filter and 50 and 25 Hz by
    leaving samples out, without a filter: what lies above the new Nyquist frequency folds back.

    >>> import numpy as np
    >>> recording = Recording(samples=np.arange(24.0).reshape(3, 8), rate_hz=100.0)
    >>> bring_to(recording, 25.0).samples[0]
    array([0., 4.])
    """
    factor = recording.rate_hz / rate_hz
    if factor < 1:
        raise ConfigError(
            f"a recording at {recording.rate_hz:g} Hz cannot be thinned out to {rate_hz:g} Hz"
        )
    if factor != round(factor):
        even = change_rate(recording, rate_hz)
        return replace(
            recording, samples=even.samples, received=even.received, rate_hz=even.rate_hz
        )
    step = round(factor)
    return replace(
        recording,
        samples=recording.samples[:, ::step],
        received=recording.received[::step],
        rate_hz=rate_hz,
    )
