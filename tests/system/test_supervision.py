"""Whatever ends a background task: locked first, told, and started again after a while."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import MonitorError, TaskFailedError, VaultError
from acclock.system.supervision import HEALTHY_S, Retry, Supervisor, supervising

RETRY = Retry(first_s=0.5, longest_s=8.0)
ENDS = ["error", "return", "cancel"]


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose waits take no time; its clock shows as if they did."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s, selector = 0.0, self._selector  # type: ignore[attr-defined]
        select = selector.select

        def jump(timeout: float | None) -> Any:  # noqa: ANN401 - as selectors answer
            self.now_s += timeout or 0.0
            return select(0)

        selector.select = jump

    def time(self) -> float:
        return self.now_s


def run(work: Callable[[], Awaitable[None]]) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:

        async def bounded() -> None:
            await work()

        runner.run(bounded())


@dataclass
class Story:
    """A task that ends as it is told, and then runs for ever; notes all that happens, and when."""

    ends: list[tuple[str, float]]
    lock_fails: int = 0
    happened: list[tuple[str, float]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    async def work(self) -> None:
        self.note("start")
        if not self.ends:
            await asyncio.Event().wait()
        how, after_s = self.ends.pop(0)
        await asyncio.sleep(after_s)
        self.note("end")
        if how == "error":
            raise RuntimeError("a secret")
        if how == "cancel":
            raise asyncio.CancelledError

    def lock(self) -> None:
        self.note("lock")
        if self.lock_fails:
            self.lock_fails -= 1
            raise ValueError("not yet")

    def note(self, what: str) -> None:
        self.happened.append((what, round(asyncio.get_running_loop().time(), 6)))

    def times(self, what: str) -> list[float]:
        return [at_s for one, at_s in self.happened if one == what]

    def supervisor(self, **options: Any) -> Supervisor:  # noqa: ANN401 - as it takes them
        usual: dict[str, Any] = {"work": self.work, "report": self.hear, "retry": RETRY}
        return Supervisor(name="story", lock=self.lock, **usual | options)

    def hear(self, name: str, said: str) -> None:
        self.said.append(f"{name}: {said}")


def play(story: Story, for_s: float) -> None:
    async def watch() -> None:
        async with supervising(story.supervisor()):
            await asyncio.sleep(for_s)

    run(watch)


def starts(ends: list[tuple[str, float]]) -> list[float]:
    """Give when the task starts, by a plain loop."""
    at_s, failures, told = 0.0, 0, [0.0]
    for _, lasted_s in ends:
        failures = 1 if lasted_s >= HEALTHY_S else failures + 1
        at_s += lasted_s + min(8.0, 0.5 * 2 ** (failures - 1))
        told.append(round(at_s, 6))
    return told


@given(
    ends=st.lists(
        st.tuples(st.sampled_from(ENDS), st.sampled_from([0.0, 0.25, 1.0, 29.0, 31.0, 100.0])),
        max_size=8,
    )
)
def test_a_task_is_started_again_later_each_time_until_it_has_run_for_a_while(
    ends: list[tuple[str, float]],
) -> None:
    story = Story(list(ends))

    play(story, for_s=2000.0)

    assert story.times("start") == starts(ends)
    assert len(story.said) == len(ends)


@given(ends=st.lists(st.tuples(st.sampled_from(ENDS), st.just(0.25)), min_size=1, max_size=6))
def test_everything_is_locked_from_the_end_of_a_task_until_it_starts_again(
    ends: list[tuple[str, float]],
) -> None:
    story = Story(list(ends))

    play(story, for_s=100.0)

    down_since_s = None
    for what, at_s in story.happened:
        if what == "end":
            down_since_s = at_s
        elif down_since_s is not None:
            assert at_s - down_since_s <= 0.5
            down_since_s = at_s if what == "lock" else None
    after = dict(zip(story.happened, story.happened[1:], strict=False))
    assert all(after["end", at_s] == ("lock", at_s) for at_s in story.times("end"))


def test_a_task_is_not_started_again_before_everything_is_locked() -> None:
    story = Story([("error", 1.0)], lock_fails=10)

    play(story, for_s=60.0)

    assert story.times("start") == [0.0, 6.0]
    assert len(story.times("lock")) == 11


def test_what_ended_a_task_is_logged_and_its_secrets_are_not_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    story = Story([("error", 1.0), ("return", 1.0), ("cancel", 1.0)])

    with caplog.at_level(logging.ERROR):
        play(story, for_s=60.0)

    again = "what depends on it is locked, and it is started again in"
    assert story.said == [
        f"story: the task story met an unexpected RuntimeError; {again} 0.5 s",
        f"story: the task story returned; {again} 1 s",
        f"story: the task story was cancelled; {again} 2 s",
    ]
    assert [record.message for record in caplog.records] == [one[7:] for one in story.said]


def test_who_cannot_be_told_does_not_keep_a_task_from_running() -> None:
    story = Story([("error", 1.0)])
    deaf = story.supervisor(report=lambda *_: 1 / 0)

    async def watch() -> None:
        async with supervising(deaf):
            await asyncio.sleep(60.0)

    run(watch)

    assert story.times("start") == [0.0, 1.5]


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (MonitorError("the end"), "the end"),
        (VaultError("the disk"), "the task story ended 3 times in a row .* failed: the disk"),
        (KeyError("secret"), "the task story ended 3 times in a row .* unexpected KeyError$"),
    ],
)
def test_an_answer_is_raised_at_once_and_a_failure_after_the_last_try(
    error: Exception, raised: str
) -> None:
    story = Story([])

    async def work() -> None:
        story.note("start")
        raise error

    async def watch() -> None:
        options = {"work": work, "final": (MonitorError,), "most_failures": 3}
        with pytest.raises((MonitorError, TaskFailedError), match=raised):
            await story.supervisor(**options).run()

    run(watch)

    assert len(story.times("start")) == (1 if raised == "the end" else 3)
    assert story.happened[-1][0] == "lock"


def test_a_cancelled_supervisor_takes_its_task_along() -> None:
    story, ended = Story([]), list[str]()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(1.0)
            ended.append("tidied up")

    async def watch() -> None:
        async with supervising(story.supervisor(work=work)):
            await asyncio.sleep(1.0)
        ended.append("left")

    run(watch)

    assert ended == ["tidied up", "left"]
    assert story.happened == []
