"""Live sources of acceleration: replayed, simulated, pushed over a network, or from a radio."""

from acclock.sources.parsing import parse_source
from acclock.sources.source import Source, Stream

__all__ = ["Source", "Stream", "parse_source"]
