"""eSense live: its commands, and its numbered packets as chunks with counted time."""

from collections.abc import Iterable

import numpy as np

from acclock.errors import ConfigError, SignalError
from acclock.live.chunks import Break, Chunk
from acclock.recordings.formats.esense import infer_counts_per_g
from acclock.recordings.packets import ESensePacket, decode_esense
from acclock.sources.bluetooth import expand
from acclock.sources.source import Faults
from acclock.values import STANDARD_GRAVITY

SERVICE, CONFIG, DATA = expand(0xFF06), expand(0xFF07), expand(0xFF08)
_SIZE = 16
_ROUND = 256
_TELLING = 25
"""Packets that are held back until the length of gravity has told the range of the sensor."""


class ESense:
    """One connection to an eSense earbud. It has no clock: time is counted from its packets."""

    name = "eSense"
    notifies = DATA

    def __init__(self, rate_hz: float = 100.0) -> None:
        if not 1 <= rate_hz <= 100 or rate_hz != int(rate_hz):
            raise ConfigError(f"eSense samples at 1 to 100 Hz, not {rate_hz:g}")
        self.rate_hz = rate_hz
        self.commands = ((CONFIG, _start(int(rate_hz))),)
        self._per_g: int | None = None
        self._held: list[Chunk] = []
        self._last: tuple[int, float] | None = None
        self._slot = 0

    def read(self, data: bytes, received_s: float, faults: Faults) -> Iterable[Chunk | Break]:
        packet = decode_esense(data)
        if packet is None:
            faults["truncated packet" if len(data) < _SIZE else "damaged packet"] += 1
            return [Break(reason="garbage", received_s=received_s)]
        lost = self._count_lost(packet, received_s)
        if lost is None:
            faults["repeated packet"] += 1
            return []
        faults["lost packet"] += lost
        self._slot += lost + 1
        counts = np.array(packet.acceleration, dtype=np.float64)[:, np.newaxis]
        stamps_s = np.array([self._slot / self.rate_hz])
        return self._scale(
            Chunk(samples=counts, stamps_s=stamps_s, received_s=received_s, lost=lost)
        )

    def _count_lost(self, packet: ESensePacket, received_s: float) -> int | None:
        """Count by the number, and by the clock the whole rounds of 256; a repeat is nothing."""
        last, self._last = self._last, (packet.index, received_s)
        if last is None:
            return 0
        ahead = (packet.index - last[0]) % _ROUND
        due = (received_s - last[1]) * self.rate_hz
        rounds = max(0, round((due - ahead) / _ROUND))
        steps = ahead + _ROUND * rounds
        return steps - 1 if steps else None

    def _scale(self, chunk: Chunk) -> Iterable[Chunk | Break]:
        """Bring counts to m/s², once it is known how many are one g."""
        if self._per_g is None:
            self._held.append(chunk)
            if len(self._held) < _TELLING:
                return []
            held, self._held = self._held, []
            try:
                self._per_g = infer_counts_per_g(np.concatenate([c.samples for c in held], axis=1))
            except SignalError:  # it is being shaken: look again
                return [Break(reason="garbage", received_s=chunk.received_s)]
            return [self._convert(each) for each in held]
        return [self._convert(chunk)]

    def _convert(self, chunk: Chunk) -> Chunk:
        samples = chunk.samples * (STANDARD_GRAVITY / (self._per_g or 1))
        return Chunk(
            samples=samples, stamps_s=chunk.stamps_s, received_s=chunk.received_s, lost=chunk.lost
        )


def _start(rate_hz: int) -> bytes:
    """Make the command that starts sampling; its checksum is that of its size and data.

    >>> _start(100).hex(" ")
    '53 67 02 01 64'
    """
    data = bytes([2, 1, rate_hz])
    return bytes([0x53, sum(data) % 256]) + data
