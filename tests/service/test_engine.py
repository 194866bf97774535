"""The engine works in batches, in time or not at all."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from acclock.live.chunks import Break, Chunk
from acclock.live.stream_analyzer import ChunkContexts, PreparedChunk
from acclock.service.metrics import Metrics
from acclock.service.streams import engine as overload_module
from acclock.service.streams.engine import Engine
from acclock.service.streams.listener import EmbeddingRequest, Message, StreamPart
from acclock.values import FloatArray


def chunk() -> Chunk:
    return Chunk(samples=np.zeros((3, 1)), stamps_s=np.zeros(1), received_s=time.monotonic())


@dataclass(eq=False)
class Ear:
    """Asks about every chunk and remembers what it was told."""

    stream: str
    embed: Callable[[FloatArray], FloatArray]
    broken: str = ""
    """Which method has a bug."""
    parts: int = 1
    received_s: float = 0.0
    order: list[str] = field(default_factory=list)
    answers: list[FloatArray] = field(default_factory=list)
    locks: int = 0
    ticks: int = 0
    news: list[Message] = field(default_factory=list)
    told: list[Message] = field(default_factory=list)

    def take(self, piece: Chunk | Break) -> list[StreamPart]:
        if self.broken == "take":
            raise ValueError("a bug")
        self.received_s = piece.received_s
        return [StreamPart(False, np.zeros((3, 1)), np.ones(1, dtype=bool))] * self.parts

    def collect(self, part: StreamPart) -> ChunkContexts:  # noqa: ARG002 - as listeners are called
        if self.broken == "overhear":
            raise ValueError("a bug")
        return ChunkContexts()

    def conclude(self, gathered: ChunkContexts, seen: PreparedChunk) -> list[EmbeddingRequest]:  # noqa: ARG002
        if self.broken == "understand":
            raise ValueError("a bug")
        self.order.append("asked")
        samples = np.full((1, 4), 7.0)
        return [
            EmbeddingRequest(
                samples=samples, embed=self.embed, received_s=self.received_s, answer=self._hear
            )
        ]

    def _hear(self, embedding: FloatArray, _: float) -> None:
        if self.broken == "answer":
            raise ValueError("a bug")
        self.order.append("answered")
        self.answers.append(embedding)
        self.news.append({"type": "decision"})

    def tick(self, now_s: float) -> None:  # noqa: ARG002 - as listeners are called
        self.ticks += 1

    def lock(self, now_s: float) -> None:  # noqa: ARG002 - as listeners are called
        self.locks += 1

    def notify(self, news: list[Message]) -> None:
        self.told += news


class Recorder:
    """An embedding that notes how large its batches were."""

    def __init__(self, model: float = 7.0) -> None:
        self.batches: list[int] = []
        self._model = model

    def __call__(self, windows: FloatArray) -> FloatArray:
        self.batches.append(len(windows))
        return windows[:, 0, :2] / 7.0 * self._model


def run(engine: Engine, until: Callable[[], bool]) -> None:
    async def live() -> None:
        running = asyncio.create_task(engine.run())
        async with asyncio.timeout(20.0):
            while not until():
                await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.wait({running})

    asyncio.run(live())


def crowd(
    count: int, *, batch: int = 16, most_streams: int = 400
) -> tuple[Engine, Recorder, Metrics, list[Ear]]:
    embed, metrics = Recorder(), Metrics()
    engine = Engine(metrics, batch=batch, most_streams=most_streams)
    ears = [Ear(f"ear {number}", embed) for number in range(count)]
    assert all(engine.admit(ear) for ear in ears)
    return engine, embed, metrics, ears


def test_windows_of_many_streams_are_embedded_together_and_told_apart() -> None:
    engine, embed, _, ears = crowd(10, batch=4)
    for ear in ears:
        engine.feed(ear, chunk())

    run(engine, lambda: all(ear.told for ear in ears))

    assert embed.batches == [4, 4, 2]
    assert [len(ear.answers) for ear in ears] == [1] * 10


def test_every_window_is_embedded_by_the_model_of_its_own_stream() -> None:
    engine, ours, _, ears = crowd(3)
    other = Recorder(model=1.0)
    ears += [Ear(f"other {number}", other) for number in range(2)]
    assert all(engine.admit(ear) for ear in ears[3:])
    for ear in ears[::2] + ears[1::2]:
        engine.feed(ear, chunk())

    run(engine, lambda: all(ear.told for ear in ears))

    assert (ours.batches, other.batches) == ([3], [2])
    answers = [float(ear.answers[0][0]) for ear in ears]
    assert answers == [7.0, 7.0, 7.0, 1.0, 1.0]


def test_what_waited_too_long_is_not_answered_and_locks() -> None:
    engine, _, metrics, ears = crowd(1)
    engine.feed(ears[0], chunk())
    time.sleep(0.9)

    run(engine, lambda: bool(ears[0].locks))

    assert ears[0].answers == []
    assert metrics.counted("shed", "late") + metrics.counted("shed", "overload") >= 1


def test_overload_sends_the_newest_away_and_admits_nobody_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(overload_module, "_PATIENCE_S", 0.0)
    engine, _, metrics, ears = crowd(10)
    for ear in ears:
        engine.feed(ear, chunk())
    time.sleep(0.55)

    run(engine, lambda: all(ear.told for ear in ears))

    shed = [ear.stream for ear in ears if {"type": "shed"}.items() <= ear.told[-1].items()]
    assert "ear 9" in shed
    assert "ear 0" not in shed
    assert metrics.counted("shed", "overload") == len(shed)
    assert all(ear.locks for ear in ears if ear.stream in shed)
    assert engine.busy
    assert not engine.admit(Ear("one more", Recorder()))


def test_a_hiccup_sends_nobody_away() -> None:
    engine, _, metrics, ears = crowd(10)
    for ear in ears:
        engine.feed(ear, chunk())
    time.sleep(0.55)

    run(engine, lambda: all(ear.told for ear in ears))

    assert metrics.counted("shed", "overload") == 0
    assert engine.streams == 10


@pytest.mark.parametrize("where", ["take", "overhear", "understand", "answer"])
def test_a_stream_that_fails_does_not_take_the_others_along(where: str) -> None:
    engine, _, metrics, ears = crowd(3)
    ears[1].broken = where
    for ear in ears:
        engine.feed(ear, chunk())

    run(engine, lambda: all(ear.told for ear in ears))

    assert [len(ear.answers) for ear in ears] == [1, 0, 1]
    assert metrics.counted("shed", "failed") == 1
    assert engine.streams == 2


def test_pieces_of_one_stream_are_worked_on_in_their_order() -> None:
    engine, embed, _, ears = crowd(2)
    ears[0].parts = 2
    for _ in range(2):
        engine.feed(ears[0], chunk())
        engine.feed(ears[0], lambda: ears[0].order.append("worked"))
    engine.feed(ears[1], chunk())

    run(engine, lambda: all(ear.told for ear in ears))

    heard = ["asked", "answered"] * 2
    assert ears[0].order == [*heard, "worked", *heard, "worked"]
    assert embed.batches == [1, 1, 1, 1, 1]


def test_one_stream_cannot_fill_the_queue() -> None:
    engine, _, _, ears = crowd(1)

    taken = [engine.feed(ears[0], chunk()) for _ in range(100)]

    assert taken.count(True) == 32


def test_time_passes_for_streams_that_say_nothing() -> None:
    engine, _, _, ears = crowd(2)

    run(engine, lambda: ears[1].ticks > 1)

    assert all(ear.ticks > 1 for ear in ears)


def test_beyond_the_most_streams_nobody_is_admitted() -> None:
    engine, _, _, ears = crowd(3, most_streams=3)

    assert not engine.admit(Ear("one more", Recorder()))
    engine.dismiss(ears[0])
    assert engine.admit(Ear("one more", Recorder()))
