"""Windows of which only an embedding can tell whose they are."""

from dataclasses import dataclass

from acclock.denoising.quality import WindowQuality
from acclock.values import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """A prepared window, and when it was heard: an answer that comes late counts for nothing."""

    samples: FloatArray
    """What the encoder reads: ``(3, n)``."""
    quality: WindowQuality
    at_s: float
    wearing: int
    """In which wearing it was heard; what comes after the end of that one is not asked about it."""
    lively: bool
    """Whether there was motion on top of the heartbeat."""
