"""Whole recordings, as a stream that comes in one chunk."""

from dataclasses import replace

from acclock.denoising.stages import Trace, lay_end_to_end
from acclock.errors import SignalError, TooShortError
from acclock.pipeline.contexts import PreparedWindow
from acclock.pipeline.preparation import Preparation
from acclock.pipeline.stream import StreamingDenoiser
from acclock.values import Recording


def prepare(
    recording: Recording, preparation: Preparation, *, step_s: float = 1.0
) -> list[PreparedWindow]:
    """Give the windows of a whole recording, the same as a stream would have given.

    >>> import numpy as np
    >>> still = Recording(samples=np.ones((3, 1000)), rate_hz=100.0)
    >>> [window.end_s for window in prepare(still, Preparation(), step_s=2.0)]
    [4.0, 6.0, 8.0, 10.0]
    """
    _check_rate(recording, preparation)
    stream = StreamingDenoiser(preparation, step_s=step_s)
    return stream.push(recording.samples, recording.received)


def trace(recording: Recording, preparation: Preparation) -> Trace:
    """Give a recording after each step of the two stages, in windows laid end to end.

    What is left over at the end, less than a window, is left out.
    """
    _check_rate(recording, preparation)
    config = preparation.config
    whole = len(recording) // config.window_length
    if not whole:
        raise TooShortError(have_s=recording.duration_s, need_s=config.window_s)
    stream = StreamingDenoiser(preparation, step_s=config.window_s)
    chunks = (slice(n * config.window_length, (n + 1) * config.window_length) for n in range(whole))
    return lay_end_to_end(
        stages
        for chunk in chunks
        for stages in stream.explain(recording.samples[:, chunk], recording.received[chunk])
    )


def clean(recording: Recording, preparation: Preparation | None = None) -> Recording:
    """Give the heartbeat of a recording: both stages, in windows laid end to end.

    What is left over at the end, less than a window, is left out.

    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=(3, 1000))
    >>> len(clean(Recording(samples=noise, rate_hz=100.0)))
    800
    """
    chosen = preparation or Preparation(rate_hz=recording.rate_hz)
    heartbeat = trace(recording, chosen).recovered
    received = recording.received[: heartbeat.shape[-1]]
    return replace(recording, samples=heartbeat, received=received)


def _check_rate(recording: Recording, preparation: Preparation) -> None:
    if recording.rate_hz != preparation.rate_hz:
        raise SignalError(
            f"the recording has {recording.rate_hz:g} samples a second; "
            f"this needs {preparation.rate_hz:g}"
        )
