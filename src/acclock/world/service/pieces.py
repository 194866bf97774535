"""Even samples of a stream in parts short enough for a session, and where it began anew."""

from typing import NamedTuple

from acclock.acquisition.live import LiveClock, Span
from acclock.session.chunks import Chunk
from acclock.values import BoolArray, FloatArray

_LONGEST_S = 0.5


class Part(NamedTuple):
    """Even samples, at most half a second of them."""

    restarted: bool
    """Whether the stream began anew with it."""
    samples: FloatArray
    received: BoolArray


def even_out(clock: LiveClock, chunk: Chunk, *, rate_hz: float) -> list[Part]:
    """Give the even samples of a chunk in parts."""
    spans = clock.push(chunk.stamps_s, chunk.samples, chunk.heard_s)
    return [part for span in spans for part in _cut(span, round(_LONGEST_S * rate_hz))]


def _cut(span: Span, length: int) -> list[Part]:
    starts = range(0, span.received.size, length)
    return [
        Part(
            span.restarted and start == 0,
            span.samples[:, start : start + length],
            span.received[start : start + length],
        )
        for start in starts
    ]
