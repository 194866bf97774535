import asyncio
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import SinkError
from acclock.sinks.json_lines import JsonLines
from acclock.sinks.outbox import Outbox
from acclock.sinks.sink import as_json, event_facts, printable

if TYPE_CHECKING:
    from tests.sinks.conftest import News


def test_each_event_is_one_line_there_before_the_next(news: "News", tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    seen = list[int]()

    async def run() -> None:
        sink = JsonLines(path)
        for kind in ("started", "unlocked", "locked"):
            await sink.notify(news(kind))
            seen.append(len(path.read_text().splitlines()))
        await sink.close()

    asyncio.run(run())

    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert seen == [1, 2, 3]
    assert [line["event"] for line in lines] == ["started", "unlocked", "locked"]
    assert lines[0]["at"] == "2025-03-01T09:30:15.250+00:00"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_later_run_appends(news: "News", tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"

    async def run() -> None:
        sink = JsonLines(path)
        await sink.notify(news("started"))
        await sink.close()

    asyncio.run(run())
    asyncio.run(run())

    assert len(path.read_text().splitlines()) == 2


@given(person=st.text(st.characters()), rate=st.floats(), clarity=st.floats())
def test_any_name_and_number_is_one_line_of_plain_json(
    new_session: type["News"], person: str, rate: float, clarity: float
) -> None:
    event = new_session()("locked", person=person, heart_rate_bpm=rate, clarity=clarity)

    line = as_json(event_facts(event))

    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["person"] == printable(person)


def test_a_reader_that_stops_holds_up_nothing_and_misses_nothing(
    news: "News", tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    events = [news("locked", reason="x" * 190) for _ in range(400)]  # more than a pipe holds

    async def run() -> bytes:
        async with Outbox([JsonLines(pipe)], patience_s=0.2, longest=1000) as outbox:
            for event in events:
                outbox.notify(event)
            began = time.monotonic()
            await asyncio.sleep(0.5)
            assert time.monotonic() - began < 1.0
            heard = b""
            while heard.count(b"\n") < len(events):
                await asyncio.sleep(0.001)
                try:
                    heard += os.read(reader, 1 << 16)
                except BlockingIOError:
                    continue
            return heard

    heard = asyncio.run(run())
    os.close(reader)

    assert [json.loads(line)["number"] for line in heard.splitlines()] == list(range(1, 401))


@pytest.mark.parametrize("name", ["missing/events.jsonl", "."])
def test_a_file_that_cannot_be_written_is_refused_at_once(name: str, tmp_path: Path) -> None:
    with pytest.raises(SinkError, match="cannot write events to"):
        JsonLines(tmp_path / name)


def test_a_pipe_without_a_reader_does_not_hold_up_the_start(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(SinkError, match="cannot write events to"):
        JsonLines(tmp_path / "pipe")
