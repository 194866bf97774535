"""What a client sends over a stream, checked: numbered from a start that the service chose."""

import secrets
import time
from collections import deque
from typing import Any

from acclock.session.chunks import Break, Chunk
from acclock.world.service.metrics import Metrics
from acclock.world.service.refusals import RefusedError
from acclock.world.sources.frames import Frame, FrameError, decode, parse_json, read_frame

_NUMBERS = 2**32
_MOST_LOST = 1024
"""Frames: a number further ahead or behind belongs to another connection."""
_MOST_GARBAGE = 10
_REMEMBERED = 64
Control = dict[str, Any]


class Intake:
    """Reads the messages of one connection.

    The first number is drawn at random for each connection, so frames that were recorded on
    another one do not fit: they are refused as replayed.
    """

    def __init__(self, metrics: Metrics) -> None:
        self.nonce = secrets.token_hex(16)
        self.first = secrets.randbelow(_NUMBERS)
        self._next = self.first
        self._metrics = metrics
        self._garbage = 0
        self._numbers: deque[tuple[float, int]] = deque(maxlen=_REMEMBERED)
        self.heard_s = time.monotonic()
        """When the last message came."""

    def read(self, data: bytes | str) -> Chunk | Break | Control | None:
        """Give what a message holds; nothing when it came before."""
        self.heard_s = heard_s = time.monotonic()
        try:
            if isinstance(data, bytes):
                return self._follow(decode(data), heard_s)
            message = parse_json(data)
            if isinstance(message, dict) and "type" in message:
                return message
            return self._follow(read_frame(message), heard_s)
        except FrameError as error:
            return self._complain(error, heard_s)

    def number_at(self, heard_s: float) -> int | None:
        """Give the number of the frame that was heard at a time."""
        newest_first = reversed(self._numbers)
        return next((number for at_s, number in newest_first if at_s == heard_s), None)

    def _follow(self, frame: Frame, heard_s: float) -> Chunk | None:
        ahead = (frame.sequence - self._next) % _NUMBERS
        if ahead >= _NUMBERS - _MOST_LOST and self._next != self.first:
            self._metrics.count("frames", "repeated")
            return None
        if ahead > _MOST_LOST:
            self._metrics.count("frames", "replayed")
            raise RefusedError(409, "replayed", "the frame is numbered as of another connection")
        if ahead:
            self._metrics.count("frames", "lost", ahead)
        self._metrics.count("frames", "taken")
        self._next = (frame.sequence + 1) % _NUMBERS
        self._numbers.append((heard_s, frame.sequence))
        lost = ahead * frame.stamps_s.size
        return Chunk(samples=frame.samples, stamps_s=frame.stamps_s, heard_s=heard_s, lost=lost)

    def _complain(self, error: FrameError, heard_s: float) -> Break:
        self._metrics.count("frames", "damaged")
        self._garbage += 1
        if self._garbage >= _MOST_GARBAGE:
            raise RefusedError(422, "garbage", f"too much of the stream cannot be read: {error}")
        return Break(reason="garbage", heard_s=heard_s)
