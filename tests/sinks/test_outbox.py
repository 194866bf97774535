import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ConfigError
from acclock.live.events import SessionEvent, SessionStatus
from acclock.sinks.outbox import Outbox
from acclock.sinks.sink import state_after
from acclock.sinks.worker import SinkWorker

if TYPE_CHECKING:
    from tests.sinks.conftest import News

Soon = Callable[..., Coroutine[None, None, None]]


class Good:
    name = "good"

    def __init__(self) -> None:
        self.heard: list[SessionEvent] = []
        self.refreshed: list[SessionStatus] = []
        self.closed = False

    async def notify(self, event: SessionEvent) -> None:
        self.heard.append(event)

    async def refresh(self, status: SessionStatus) -> None:
        self.refreshed.append(status)

    async def close(self) -> None:
        self.closed = True


class Raising(Good):
    name = "raising"

    async def notify(self, event: SessionEvent) -> None:  # noqa: ARG002
        raise RuntimeError("no")

    async def close(self) -> None:
        raise RuntimeError("no")


class Hanging(Good):
    """Takes locks; everything else takes for ever."""

    name = "hanging"

    async def notify(self, event: SessionEvent) -> None:
        self.heard.append(event)
        if state_after(event) == "unlocked":
            await asyncio.Event().wait()

    async def refresh(self, status: SessionStatus) -> None:  # noqa: ARG002
        await asyncio.Event().wait()

    async def close(self) -> None:
        await asyncio.Event().wait()


class Stubborn(Good):
    """Cannot even be cancelled, for a while."""

    name = "stubborn"

    async def notify(self, event: SessionEvent) -> None:
        self.heard.append(event)
        if state_after(event) == "locked":
            return
        deadline = time.monotonic() + 1.5
        while time.monotonic() < deadline:
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue


def test_a_bad_output_keeps_nothing_from_a_good_one(news: "News") -> None:
    good, troubles = Good(), list[str]()
    events = [news("started"), news("unlocked"), news("confidence"), news("locked")]

    async def run() -> float:
        others = [Raising(), Hanging(), Stubborn(), good]
        async with Outbox(others, patience_s=0.3, parting_s=0.1, report=troubles.append) as outbox:
            began = time.monotonic()
            for event in events:
                outbox.notify(event)
                outbox.refresh(event.status)
                await asyncio.sleep(0.02)
            return time.monotonic() - began

    took_s = asyncio.run(run())

    assert took_s < 0.3
    assert good.heard == events
    assert good.closed
    assert troubles[0] == "raising: no"


@pytest.mark.parametrize("sort", [Hanging, Stubborn])
def test_a_lock_does_not_wait_for_a_hanging_unlock(
    sort: type[Good], news: "News", soon: Soon
) -> None:
    sink = sort()

    async def run() -> float:
        async with Outbox([sink], patience_s=60.0, parting_s=0.1) as outbox:
            outbox.notify(news("unlocked"))
            await soon(lambda: sink.heard)
            outbox.notify(locked := news("locked"))
            began = time.monotonic()
            await soon(lambda: sink.heard[-1] is locked)
            return time.monotonic() - began

    assert asyncio.run(run()) < 0.5


def test_a_waiting_unlock_is_never_told_after_the_lock(news: "News", soon: Soon) -> None:
    sink = Hanging()

    async def run() -> Outbox:
        async with Outbox([sink], patience_s=60.0, parting_s=0.1) as outbox:
            for kind in ("unlocked", "locked", "unlocked", "confidence", "locked"):
                outbox.notify(news(kind))
            outbox.refresh(news.status(state="locked"))
            await soon(lambda: len(sink.heard) == 2)
            return outbox

    outbox = asyncio.run(run())

    assert [event.kind for event in sink.heard] == ["locked", "locked"]
    assert outbox.tallies["hanging"].overtaken == 3


def test_refreshes_are_dropped_for_newer_ones_and_counted(news: "News") -> None:
    good = Good()

    async def run() -> Outbox:
        async with Outbox([good]) as outbox:
            for rate in range(100):
                outbox.refresh(news.status(heart_rate_bpm=float(rate)))
        return outbox

    outbox = asyncio.run(run())

    assert [status.heart_rate_bpm for status in good.refreshed] == [99.0]
    assert outbox.tallies["good"].dropped == 99


class Grumbling(Good):
    """Takes events and no refresh, and never says the same twice."""

    name = "grumbling"

    async def notify(self, event: SessionEvent) -> None:
        await super().notify(event)
        if event.kind == "trouble":
            raise RuntimeError(f"trouble {len(self.heard)}")

    async def refresh(self, status: SessionStatus) -> None:
        raise RuntimeError(f"no heart at {status.at:%H}")


def test_trouble_that_is_told_makes_no_more_trouble(news: "News") -> None:
    troubles, sink = list[str](), Grumbling()

    async def run() -> None:
        async with Outbox([sink], report=lambda one: complain(one)) as outbox:

            def complain(one: str) -> None:
                troubles.append(one)
                outbox.notify(news("trouble", state="unlocked"))

            for _ in range(5):
                outbox.refresh(news.status(state="unlocked"))
                await asyncio.sleep(0.02)

    asyncio.run(run())

    assert troubles == ["grumbling: no heart at 09"]
    assert [event.kind for event in sink.heard] == ["trouble"]


class Slow(Good):
    """Takes its time over the first thing that it is told."""

    name = "slow"

    async def notify(self, event: SessionEvent) -> None:
        await super().notify(event)
        if len(self.heard) == 1:
            await asyncio.sleep(30.0)


@pytest.mark.parametrize("error", [RuntimeError("a bug"), None])
def test_a_lock_is_told_again_when_the_task_of_its_output_ends(
    news: "News", soon: Soon, kill_task: Callable[..., None], error: Exception | None
) -> None:
    sink, troubles, locked = Slow(), list[str](), list[str]()

    async def run() -> None:
        outbox = Outbox([sink], report=troubles.append, lock=lambda: locked.append("locked"))
        async with outbox:
            outbox.notify(news("locked"))
            await soon(lambda: sink.heard)
            kill_task("output slow", error)
            await soon(lambda: len(sink.heard) == 2)

    asyncio.run(run())

    assert sink.heard[0] is sink.heard[1]
    assert locked[0] == "locked"
    assert troubles[0].startswith("the task output slow ")


def test_an_outbox_closes_though_nothing_answers(news: "News") -> None:
    async def run() -> None:
        async with Outbox([Hanging(), Raising()], parting_s=0.1) as outbox:
            outbox.notify(news("unlocked"))

    began = time.monotonic()
    asyncio.run(run())

    assert time.monotonic() - began < 1.0


def test_an_outbox_without_patience_or_room_is_refused() -> None:
    with pytest.raises(ConfigError, match="patience"):
        Outbox([], patience_s=0.0)
    with pytest.raises(ConfigError, match="room"):
        Outbox([], longest=0)


class Gated(Good):
    """Takes one event for each time that it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Semaphore(0)

    async def notify(self, event: SessionEvent) -> None:
        await self.gate.acquire()
        await super().notify(event)


@given(script=st.lists(st.sampled_from(["unlocked", "locked", "lockout", "template", "step"])))
def test_whatever_happens_locks_are_told_in_order_and_no_stale_unlock(
    new_session: type["News"], script: list[str]
) -> None:
    news, told_when, sent = new_session(), list[tuple[SessionEvent, int]](), list[SessionEvent]()

    async def run() -> None:
        sink = Gated()
        worker = SinkWorker(sink, patience_s=60.0, longest=1000, report=lambda _: None)
        task = asyncio.create_task(worker.run())
        for word in script:
            if word == "step":
                sink.gate.release()
            else:
                sent.append(news(word))  # type: ignore[arg-type]
                worker.notify(sent[-1])
            for _ in range(8):
                await asyncio.sleep(0)
            told_when.extend((event, len(sent)) for event in sink.heard[len(told_when) :])
        for _ in sent:
            sink.gate.release()
        await worker.drained()
        told_when.extend((event, len(sent)) for event in sink.heard[len(told_when) :])
        task.cancel()

    asyncio.run(run())

    told = [event for event, _ in told_when]
    locks = [event for event in sent if state_after(event) == "locked"]
    assert [event for event in told if state_after(event) == "locked"] == locks
    for event, known in told_when:
        later = (other for other in sent[event.number : known] if state_after(other) == "locked")
        assert state_after(event) == "locked" or not any(later)


@given(kinds=st.lists(st.sampled_from(["unlocked", "confidence", "locked"]), min_size=1))
def test_a_full_queue_keeps_the_last_state(new_session: type["News"], kinds: list[str]) -> None:
    news, sink = new_session(), Good()
    events = [news(kind) for kind in kinds]  # type: ignore[arg-type]

    async def run() -> int:
        worker = SinkWorker(sink, patience_s=60.0, longest=3, report=lambda _: None)
        for event in events:
            worker.notify(event)
        task = asyncio.create_task(worker.run())
        await worker.drained()
        task.cancel()
        return worker.tally.dropped + worker.tally.overtaken

    lost = asyncio.run(run())

    assert len(sink.heard) <= 3
    assert sink.heard[-1] is events[-1]
    assert len(sink.heard) + lost == len(events)
