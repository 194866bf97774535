"""What the engine works for: a listener to one stream, and the parts of its even samples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from acclock.acquisition.live import EvenSpan, LiveClock
from acclock.live.chunks import Break, Chunk
from acclock.live.stream_analyzer import ChunkContexts, PreparedChunk
from acclock.values import BoolArray, FloatArray

_LONGEST_S = 0.5


class StreamPart(NamedTuple):
    """Even samples, at most half a second of them."""

    restarted: bool
    """Whether the stream began anew with it."""
    samples: FloatArray
    received: BoolArray


def even_out(clock: LiveClock, chunk: Chunk, *, rate_hz: float) -> list[StreamPart]:
    """Give the even samples of a chunk in parts."""
    spans = clock.push(chunk.stamps_s, chunk.samples, chunk.received_s)
    return [part for span in spans for part in _cut(span, round(_LONGEST_S * rate_hz))]


def _cut(span: EvenSpan, length: int) -> list[StreamPart]:
    starts = range(0, span.received.size, length)
    return [
        StreamPart(
            span.restarted and start == 0,
            span.samples[:, start : start + length],
            span.received[start : start + length],
        )
        for start in starts
    ]


Message = dict[str, Any]
"""What is told to a client, ready for JSON."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EmbeddingRequest:
    """A window whose embedding somebody waits for."""

    samples: FloatArray
    embed: Callable[[FloatArray], FloatArray]
    """Of the model that is asked."""
    received_s: float
    answer: Callable[[FloatArray, float], None]


class StreamListener(Protocol):
    """Listens to one stream. All but ``stream`` and ``notify`` is called by the engine's thread."""

    stream: str
    news: list[Message]
    """What the client has not been told yet."""

    def take(self, piece: Chunk | Break) -> Sequence[StreamPart]:
        """Hear a break at once, or give the even samples of a chunk in short parts."""
        ...

    def collect(self, part: StreamPart) -> ChunkContexts | None:
        """Take a part, and give what is to be looked at together with what others overheard."""
        ...

    def conclude(self, gathered: ChunkContexts, seen: PreparedChunk) -> list[EmbeddingRequest]:
        """Act on what was seen in it, and ask about windows."""
        ...

    def tick(self, now_s: float) -> None: ...

    def lock(self, now_s: float) -> None:
        """Lock, because the service cannot keep up or cannot vouch for the session."""
        ...

    def notify(self, news: list[Message]) -> None:
        """Hand news to the client; called on the event loop."""
        ...
