import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acclock.errors import SinkError
from acclock.live.events import Kind
from acclock.sinks.command import Command, run, split_command, variables
from acclock.sinks.outbox import Outbox

if TYPE_CHECKING:
    from tests.sinks.conftest import News

Soon = Callable[..., Coroutine[None, None, None]]
KINDS: tuple[Kind, ...] = (
    "started",
    "unlocked",
    "confidence",
    "locked",
    "lockout",
    "unlocked",
    "stopped",
)
HOSTILE = [
    "anna; touch owned",
    "$(touch owned)",
    "`touch owned`",
    "--help",
    "anna\ntouch owned",
    "anna\0touch owned",
    "'\"\\ && touch owned",
    "\ud800",
    "a" * 1_000_000,
]


def recorder(out: Path) -> tuple[str, ...]:
    """A command that writes down its words and its variables."""
    script = (
        "import json, os, sys; told = {k: v for k, v in os.environ.items() if 'ACCLOCK_' in k};"
        f"open({str(out)!r}, 'a').write(json.dumps([sys.argv[1:], told]) + '\\n')"
    )
    return (sys.executable, "-I", "-S", "-c", script, "word")


def lines(out: Path) -> list[Any]:
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def test_a_command_runs_once_for_each_change_of_state(news: "News", tmp_path: Path) -> None:
    locking, unlocking = tmp_path / "locking", tmp_path / "unlocking"

    async def notify() -> None:
        sink = Command(on_lock=recorder(locking), on_unlock=recorder(unlocking))
        for kind in KINDS:
            await sink.notify(news(kind))
        await sink.close()

    asyncio.run(notify())

    assert [line[1]["ACCLOCK_EVENT"] for line in lines(locking)] == ["locked", "stopped"]
    assert [line[1]["ACCLOCK_STATE"] for line in lines(unlocking)] == ["unlocked"] * 2


@pytest.mark.parametrize("person", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_is_a_variable_and_nothing_else(
    person: str, news: "News", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"

    async def notify() -> None:
        sink = Command(on_lock=recorder(out))
        await sink.notify(news("unlocked", person=person))
        await sink.notify(news("locked", person=person, device=person, reason=person))

    asyncio.run(notify())

    ((words, told),) = lines(out)
    assert words == ["word"]
    assert told["ACCLOCK_STATE"] == "locked"
    assert not (tmp_path / "owned").exists()


@settings(max_examples=200)
@given(text=st.text(st.characters()))
def test_whatever_a_device_calls_itself_fits_into_an_environment(
    new_session: type["News"], text: str
) -> None:
    told = variables(new_session()("locked", device=text, reason=text))

    assert all("\0" not in value and os.fsencode(value) is not None for value in told.values())
    assert {name.partition("_")[0] for name in told} == {"ACCLOCK"}


def test_a_command_that_hangs_is_killed_with_all_that_it_started(
    tmp_path: Path, soon: Soon
) -> None:
    script = f"sleep 300 & echo $! >{tmp_path}/child; wait"

    async def start() -> float:
        began = time.monotonic()
        with pytest.raises(SinkError, match=r"sh was killed: it took over 0\.3 s"):
            await run(("sh", "-c", script), os.environ, timeout_s=0.3)
        took_s = time.monotonic() - began
        child = int((tmp_path / "child").read_text())
        await soon(lambda: not running(child))
        return took_s

    assert asyncio.run(start()) < 2.0


def test_a_lock_kills_the_unlock_command_that_hangs(
    news: "News", tmp_path: Path, soon: Soon
) -> None:
    child, out = tmp_path / "child", tmp_path / "out"
    sink = Command(
        on_lock=recorder(out), on_unlock=("sh", "-c", f"echo $$ >{child}; exec sleep 300")
    )

    async def notify() -> float:
        async with Outbox([sink]) as outbox:
            outbox.notify(news("unlocked"))
            await soon(lambda: child.exists() and child.read_text().strip())
            began = time.monotonic()
            outbox.notify(news("locked"))
            await soon(lambda: lines(out))
            took_s = time.monotonic() - began
            await soon(lambda: not running(int(child.read_text())))
            return took_s

    assert asyncio.run(notify()) < 1.0


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("false",), "false ended with status 1"),
        (("no-such-program-here",), "cannot run no-such-program-here"),
        (("/",), "cannot run /"),
    ],
)
def test_a_command_that_fails_is_told_and_the_next_lock_tries_again(
    command: tuple[str, ...], sentence: str, news: "News"
) -> None:
    troubles = list[str]()

    async def notify() -> int:
        async with Outbox([Command(on_lock=command)], report=troubles.append) as outbox:
            for kind in ("unlocked", "locked", "lockout"):
                outbox.notify(news(kind))
                await asyncio.sleep(0.2)
            return outbox.tallies["exec"].failed

    failed = asyncio.run(notify())

    assert troubles[0].startswith(f"exec: {sentence}")
    assert failed == 2


def stumbling(out: Path, times: int) -> tuple[str, ...]:
    """A command that fails so many times, and notes each time that it ran."""
    script = f"echo ran >>{out}; test $(wc -l <{out}) -gt {times}"
    return ("sh", "-c", script)


def test_a_lock_that_fails_is_tried_again_until_it_succeeds(
    news: "News", soon: Soon, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"

    async def notify() -> tuple[int, int]:
        async with Outbox([Command(on_lock=stumbling(ran, 2))]) as outbox:
            outbox.notify(news("unlocked"))
            await soon(lambda: outbox.tallies["exec"].told)
            outbox.notify(news("locked"))
            await soon(lambda: not outbox.left_open)
            await asyncio.sleep(0.6)  # it is not told again what it has taken
            return outbox.tallies["exec"].failed, outbox.tallies["exec"].told

    assert asyncio.run(notify()) == (2, 2)
    assert len(ran.read_text().splitlines()) == 3


def test_a_session_that_opens_again_owes_no_lock(news: "News", soon: Soon, tmp_path: Path) -> None:
    ran = tmp_path / "ran"

    async def notify() -> None:
        async with Outbox([Command(on_lock=stumbling(ran, 99))], parting_s=0.1) as outbox:
            outbox.notify(news("unlocked"))
            await soon(lambda: outbox.tallies["exec"].told)
            outbox.notify(news("locked"))
            await soon(lambda: outbox.tallies["exec"].failed)
            outbox.notify(news("unlocked"))
            await soon(lambda: not outbox.left_open)
            before = ran.read_text()
            await asyncio.sleep(0.8)
            assert ran.read_text() == before

    asyncio.run(notify())


def test_a_slow_lock_is_waited_for_at_the_end(news: "News", tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    command = ("sh", "-c", f"sleep 1; touch {locked}")

    async def notify() -> tuple[str, ...]:
        async with Outbox([Command(on_lock=command)], parting_s=0.2) as outbox:
            outbox.notify(news("unlocked"))
            await asyncio.sleep(0.1)
            outbox.notify(news("stopped"))
        return outbox.left_open

    assert asyncio.run(notify()) == ()
    assert locked.exists()


def test_what_could_not_be_locked_at_the_end_is_named(
    news: "News", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acclock.sinks.outbox._LOCKING_S", 0.2)

    async def notify() -> tuple[str, ...]:
        async with Outbox([Command(on_lock=("false",), name="door")], parting_s=0.2) as outbox:
            outbox.notify(news("unlocked"))
            await asyncio.sleep(0.1)
            outbox.notify(news("stopped"))
        return outbox.left_open

    assert asyncio.run(notify()) == ("door",)


def test_trouble_runs_no_command(news: "News", tmp_path: Path) -> None:
    async def notify() -> None:
        sink = Command(on_lock=stumbling(tmp_path / "ran", 1))
        await sink.notify(news("unlocked"))
        with pytest.raises(SinkError):
            await sink.notify(news("locked"))
        await sink.notify(news("trouble"))

    asyncio.run(notify())

    assert len((tmp_path / "ran").read_text().splitlines()) == 1


def test_closing_locks_what_was_left_open(news: "News", tmp_path: Path) -> None:
    async def notify() -> None:
        sink = Command(on_lock=recorder(tmp_path / "out"))
        await sink.notify(news("unlocked"))
        await sink.close()

    asyncio.run(notify())

    assert len(lines(tmp_path / "out")) == 1


@pytest.mark.parametrize("text", ["", "  ", "echo 'open"])
def test_what_is_no_command_is_refused(text: str) -> None:
    with pytest.raises(SinkError, match="command"):
        split_command(text)


def running(process: int) -> bool:
    """Whether it lives; a dead child that nobody fetched does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
