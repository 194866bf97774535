"""What the engine works for: somebody who listens to one stream."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from acclock.session.chunks import Break, Chunk
from acclock.session.ear import Overheard, Seen
from acclock.values import FloatArray
from acclock.world.service.pieces import Part

Message = dict[str, Any]
"""What is told to a client, ready for JSON."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """A window whose embedding somebody waits for."""

    samples: FloatArray
    embed: Callable[[FloatArray], FloatArray]
    """Of the model that is asked."""
    heard_s: float
    answer: Callable[[FloatArray, float], None]


class Listener(Protocol):
    """Listens to one stream. All but ``stream`` and ``tell`` is called by the engine's thread."""

    stream: str
    news: list[Message]
    """What the client has not been told yet."""

    def take(self, piece: Chunk | Break) -> Sequence[Part]:
        """Hear a break at once, or give the even samples of a chunk in short parts."""
        ...

    def overhear(self, part: Part) -> Overheard | None:
        """Take a part, and give what is to be looked at together with what others overheard."""
        ...

    def understand(self, overheard: Overheard, seen: Seen) -> list[Asked]:
        """Act on what was seen in it, and ask about windows."""
        ...

    def tick(self, now_s: float) -> None: ...

    def lock(self, now_s: float) -> None:
        """Lock, because the service cannot keep up or cannot vouch for the session."""
        ...

    def tell(self, news: list[Message]) -> None:
        """Hand news to the client; called on the event loop."""
        ...
