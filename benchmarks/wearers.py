"""Many wearers in one cheap process: raw WebSocket frames, written once and sent when due.

Every stream sends half a second of samples each half second, whether or not the service keeps up
(open loop). The time of a decision counts from the moment at which the last sample of its frame
was due, so a client or a service that falls behind shows.
"""

import asyncio
import base64
import json
import os
import struct
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

import numpy as np

from acclock.simulation import Scene, draw_person, simulate
from acclock.sources.frames import encode

STEP_S, RATE_HZ = 0.5, 100
FIRST = 8
"""The frame, counted from zero, with which the first window is whole: four seconds, and the
look-ahead of the even clock."""
STALE_S = 1.3
"""No accept may come later than this after its samples were sent: a second, and the way."""
_TICK_S, _ASLEEP_S = 0.005, 0.2
_TEXT, _CLOSE, _PING = 1, 8, 9
_CONNECTS_PER_S = 40
_NUMBER = slice(8, 20)
"""Where the number and the time of a frame lie in it."""


def record(person: int, seconds: float) -> list[bytes]:
    """Give somebody's heart in a later session than they were enrolled in, as frames."""
    samples = simulate(draw_person(person), Scene(duration_s=seconds, session=1)).recording.samples
    hop = round(STEP_S * RATE_HZ)
    return [
        encode(
            samples[:, start : start + hop],
            sequence=0,
            time_us=0,
            period_us=1_000_000 // RATE_HZ,
        )
        for start in range(0, samples.shape[1] - hop + 1, hop)
    ]


def wrap(payload: bytes, opcode: int) -> bytes:
    """Make a client's WebSocket message; its mask is zero, which leaves the bytes as they are."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size)
    return bytes([0x80 | opcode]) + length + b"\0\0\0\0" + payload


@dataclass(slots=True)
class Tally:
    """What the client saw."""

    waits: list[tuple[float, float]] = field(default_factory=list)
    """When each decision was due, and how long it took."""
    sent: list[float] = field(default_factory=list)
    """When each frame was due that completes a window."""
    first_s: list[float] = field(default_factory=list)
    stale_accepts: int = 0
    shed: int = 0
    refused: int = 0
    asleep: int = 0
    """Accepts that came late to a client that had itself not been running: they prove nothing."""
    ticked_s: float = 0.0
    """When the client last went round."""

    def waits_ms(self, begin_s: float, end_s: float = np.inf) -> np.ndarray:
        return np.array([1e3 * took for due, took in self.waits if begin_s <= due < end_s])

    def missing(self, begin_s: float, end_s: float = np.inf) -> int:
        expected = sum(begin_s <= due < end_s for due in self.sent)
        return expected - len(self.waits_ms(begin_s, end_s))


class Wearer(asyncio.Protocol):
    """One stream: the user whom it names, or a stranger in their place."""

    def __init__(
        self, hello: Mapping[str, object], frames: list[bytes], at: int, tally: Tally
    ) -> None:
        self._hello, self._frames, self._at, self._tally = hello, frames, at, tally
        self._count = 0
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._begun_s = 0.0
        self._first = 0
        self._due: dict[int, tuple[float, float]] = {}
        self._said = b""
        self._heard = False
        self.ready = asyncio.get_running_loop().create_future()
        self.ended = False
        self.state = "locked"
        self.accepted = self.rejected = 0
        self.opened = 0
        self.closed = 0
        """How often the session was unlocked and locked."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        key = base64.b64encode(os.urandom(16)).decode()
        transport.write(
            f"GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            f"Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        self.ended = True
        if not self.ready.done():
            self._tally.refused += 1
            self.ready.set_result(False)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._said:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            self._said, self._buffer = bytes(head), rest
        while (message := self._pop()) is not None:
            self._hear(*message)

    def _pop(self) -> tuple[int, bytes] | None:
        buffer = self._buffer
        if len(buffer) < 2 or len(buffer) < (begin := 4 if buffer[1] == 126 else 2):
            return None
        size = struct.unpack_from(">H", buffer, 2)[0] if begin == 4 else buffer[1]
        if len(buffer) < begin + size:
            return None
        opcode, payload = buffer[0] & 15, bytes(buffer[begin : begin + size])
        del buffer[: begin + size]
        return opcode, payload

    def _hear(self, opcode: int, payload: bytes) -> None:
        if opcode == _PING and self._transport is not None:
            self._transport.write(wrap(payload, 10))
        elif opcode == _CLOSE:
            self.close()
        elif opcode == _TEXT:
            message = json.loads(payload)
            getattr(self, f"_hear_{message['type']}", self._ignore)(message)

    def _ignore(self, message: dict[str, Any]) -> None:
        """Hear what is of no matter here."""

    def _hear_welcome(self, message: dict[str, Any]) -> None:
        assert self._transport is not None
        self._first = message["first_sequence"]
        hello = {**self._hello, "type": "hello", "nonce": message["nonce"]}
        self._transport.write(wrap(json.dumps(hello).encode(), _TEXT))

    def _hear_ready(self, message: dict[str, Any]) -> None:  # noqa: ARG002
        self._begun_s = time.monotonic()
        self.ready.set_result(True)

    def _hear_shed(self, message: dict[str, Any]) -> None:  # noqa: ARG002
        self._tally.shed += 1

    def _hear_change(self, message: dict[str, Any]) -> None:
        self.opened += message["kind"] == "unlocked"
        self.closed += message["kind"] == "locked"

    def _hear_decision(self, message: dict[str, Any]) -> None:
        self.state = message["state"]
        self.accepted += message["decision"] == "accept"
        self.rejected += message["decision"] == "reject"
        if (sent := self._due.pop(message["sequence"], None)) is None:
            return
        due_s, sent_s = sent
        now_s = time.monotonic()
        if not self._heard:
            self._tally.first_s.append(now_s - self._begun_s)
        self._heard = True
        self._tally.waits.append((due_s, now_s - due_s))
        if now_s - sent_s > STALE_S and message["decision"] == "accept":
            awake = now_s - self._tally.ticked_s < _ASLEEP_S
            self._tally.stale_accepts += awake
            self._tally.asleep += not awake

    @property
    def due_s(self) -> float:
        """When the next frame is due."""
        return self._begun_s + (self._count + 1) * STEP_S

    def send_due(self, now_s: float) -> None:
        """Send what is due by now."""
        while not self.ended and (due_s := self.due_s) <= now_s:
            frame = self._frames[(self._at + self._count) % len(self._frames)]
            number = (self._first + self._count) % 2**32
            stamp = struct.pack("<IQ", number, round(self._count * STEP_S * 1e6))
            numbered = frame[: _NUMBER.start] + stamp + frame[_NUMBER.stop :]
            assert self._transport is not None
            self._transport.write(wrap(numbered, 2))
            if self._count >= FIRST:
                self._due[number] = due_s, time.monotonic()
                self._tally.sent.append(due_s)
            self._count += 1

    def unanswered(self, begin_s: float) -> list[float]:
        """Give when the frames since then were due that nobody has answered."""
        return [due_s for due_s, _ in self._due.values() if due_s >= begin_s]

    def stop(self) -> None:
        """Send nothing more, but go on hearing."""
        self.ended = True

    def close(self) -> None:
        self.ended = True
        if self._transport is not None:
            self._transport.close()


class Crowd:
    """Streams that come and go; whoever is there sends in time.

    Each is of another of the ``people``, since a person has one session; hearts repeat among them.
    """

    def __init__(
        self, port: int, token: str, hearts: dict[int, list[bytes]], *, people: int
    ) -> None:
        self._port, self._token, self._hearts, self._people = port, token, hearts, people
        self._chance = np.random.default_rng(0)
        self._made = 0
        self.tally = Tally()
        self.owners: list[Wearer] = []
        self.strangers: list[Wearer] = []
        self._agenda: list[tuple[float, int, Wearer]] = []
        """Who has to send when, the next first: nobody else is looked at."""

    @property
    def all(self) -> list[Wearer]:
        return [*self.owners, *self.strangers]

    async def grow(self, count: int) -> None:
        """Let streams come, a third of them with a stranger in the user's place."""
        pending = []
        for _ in range(count):
            pending.append(asyncio.create_task(self._come()))
            await self.rest(1.0 / _CONNECTS_PER_S)
        while not all(task.done() for task in pending):
            await self.rest(0.05)

    async def _come(self) -> None:
        place, self._made = self._made, self._made + 1
        user, strange = place % self._people, place % 3 == 2
        worn = (user + strange) % len(self._hearts)
        hello = {
            "token": self._token,
            "person": f"user {user}",
            "device": f"bud {place}",
            "entry": "heartbeat",
        }
        frames = self._hearts[worn]
        at = int(self._chance.integers(len(frames)))
        loop = asyncio.get_running_loop()
        _, wearer = await loop.create_connection(
            lambda: Wearer(hello, frames, at, self.tally), "127.0.0.1", self._port
        )
        if await wearer.ready:
            (self.strangers if strange else self.owners).append(wearer)
            heappush(self._agenda, (wearer.due_s, place, wearer))

    async def rest(self, seconds: float) -> None:
        """Let time pass; everybody sends what is due."""
        end_s = time.monotonic() + seconds
        while (now_s := time.monotonic()) < end_s:
            self.tally.ticked_s = now_s
            while self._agenda and self._agenda[0][0] <= now_s:
                _, place, wearer = heappop(self._agenda)
                wearer.send_due(now_s)
                if not wearer.ended:
                    heappush(self._agenda, (wearer.due_s, place, wearer))
            await asyncio.sleep(min(_TICK_S, end_s - now_s))

    async def shrink(self, leaving: Iterable[Wearer]) -> None:
        """Let streams leave."""
        gone = list(leaving)
        for wearer in gone:
            wearer.close()
        self.owners = [one for one in self.owners if one not in gone]
        self.strangers = [one for one in self.strangers if one not in gone]
        await self.rest(0.1)
