"""Even samples of a stream in pieces short enough for a session, and where it began anew."""

from collections.abc import Iterator

from acclock.acquisition.live import LiveClock, Span
from acclock.session.chunks import Chunk
from acclock.values import BoolArray, FloatArray

_LONGEST_S = 0.5


def even_out(
    clock: LiveClock, chunk: Chunk, *, rate_hz: float
) -> Iterator[tuple[bool, FloatArray, BoolArray]]:
    """Give whether the stream began anew, the samples and which of them arrived."""
    for span in clock.push(chunk.stamps_s, chunk.samples, chunk.heard_s):
        yield from _cut(span, round(_LONGEST_S * rate_hz))


def _cut(span: Span, length: int) -> Iterator[tuple[bool, FloatArray, BoolArray]]:
    for start in range(0, span.received.size, length):
        part = slice(start, start + length)
        yield span.restarted and start == 0, span.samples[:, part], span.received[part]
