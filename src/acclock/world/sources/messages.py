"""Messages from a network, whatever they are: frames, or what Sensor Logger pushes."""

from collections.abc import Iterable

from acclock.session.chunks import Break, Chunk
from acclock.world.sources.frames import MAGIC, Frame, FrameError, decode, parse_json, read_frame
from acclock.world.sources.numbering import Numbering
from acclock.world.sources.pushes import Pushes
from acclock.world.sources.source import Faults

_FRAMES = 2**32


class Reader:
    """Turns one message after the other into chunks; a bad one is counted and is a break."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._numbering = Numbering(_FRAMES)
        self._pushes = Pushes(faults)

    def read(self, data: bytes | str, heard_s: float) -> Iterable[Chunk | Break]:
        """Give what a message holds. Nothing is raised."""
        try:
            if isinstance(data, bytes) and data.startswith(MAGIC):
                return self._follow(decode(data), heard_s)
            message = parse_json(data)
            if isinstance(message, dict) and "payload" in message:
                return self._pushes.read(message, heard_s)
            return self._follow(read_frame(message), heard_s)
        except FrameError:
            self._faults["damaged frame"] += 1
            return [Break(reason="garbage", heard_s=heard_s)]

    def forget(self) -> None:
        """Begin anew: another connection numbers its messages for itself."""
        self._numbering.forget()
        self._pushes.forget()

    def _follow(self, frame: Frame, heard_s: float) -> Iterable[Chunk | Break]:
        repeated = self._numbering.repeats(frame.sequence)
        lost = self._numbering.follow(frame.sequence)
        if lost is None:
            self._faults["repeated frame" if repeated else "late frame"] += 1
            return []
        self._faults["lost frame"] += lost
        return [
            Chunk(
                samples=frame.samples,
                stamps_s=frame.stamps_s,
                heard_s=heard_s,
                lost=lost * frame.stamps_s.size,
            )
        ]
