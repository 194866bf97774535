import asyncio
import contextlib
import json
import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
from joserfc.jwk import Key

from acclock.access import local_client, local_socket, signed_tokens
from acclock.access.local_client import request
from acclock.access.local_socket import LocalSocket
from acclock.access.signed_tokens import Assertion, request_state
from acclock.access.signing_keys import signing_key
from acclock.errors import GrantError, SinkError
from acclock.sinks.assertion import Assertions, AssertionSink

if TYPE_CHECKING:
    from tests.sinks.conftest import News

Result = TypeVar("Result")


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return signing_key(tmp_path, "assertions")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "acclock.sock"


async def state(path: Path, key: Key, person: str = "anna") -> Assertion:
    return await asyncio.to_thread(request_state, path, person, key=key, audience="test")


def in_session(
    path: Path, key: Key, work: Callable[[AssertionSink], Coroutine[None, None, Result]]
) -> Result:
    async def run() -> Result:
        sink = AssertionSink(path, key)
        try:
            return await work(sink)
        finally:
            await sink.close()

    return asyncio.run(run())


def test_the_answer_is_the_last_decision(path: Path, key: Key, news: "News") -> None:
    async def work(sink: AssertionSink) -> list[bool]:
        answers = list[bool]()
        for event in (news("started"), news("unlocked"), news("locked")):
            await sink.notify(event)
            answers.append((await state(path, key)).unlocked)
        await sink.refresh(news.status(state="unlocked"))
        answers.append((await state(path, key)).unlocked)
        return answers

    assert in_session(path, key, work) == [False, True, False, True]


def test_a_stopped_session_is_locked_whatever_it_says(path: Path, key: Key, news: "News") -> None:
    async def work(sink: AssertionSink) -> Assertion:
        await sink.notify(news("stopped", state="unlocked"))
        return await state(path, key)

    assert not in_session(path, key, work).unlocked


def test_a_monitor_that_decides_no_more_says_locked_within_a_second(
    path: Path, key: Key, news: "News"
) -> None:
    async def work(sink: AssertionSink) -> tuple[bool, Assertion]:
        await sink.refresh(news.status(state="unlocked"))
        before = (await state(path, key)).unlocked
        await asyncio.sleep(1.01)
        return before, await state(path, key)

    before, after = in_session(path, key, work)

    assert before
    assert not after.unlocked
    assert after.reason == "the last decision is too old"


def test_an_answer_is_void_a_second_after_the_decision_and_not_after_the_question(
    key: Key, news: "News", monkeypatch: pytest.MonkeyPatch
) -> None:
    assertions = Assertions(key)
    assertions.hear(news.status(state="unlocked"), "unlocked")
    time.sleep(0.5)
    token = assertions.answer({"nonce": "n", "audience": "a"})["assertion"]
    monkeypatch.setattr(signed_tokens, "time", lambda: 0.0)  # a wall clock that was set back
    claims = signed_tokens.read_token(signed_tokens.ASSERTION, token, key)
    time.sleep(0.52)

    assert claims["state"] == "unlocked"
    with pytest.raises(GrantError, match="its time is over"):
        signed_tokens.read_token(signed_tokens.ASSERTION, token, key)


def test_an_old_answer_is_no_answer_to_a_new_question(path: Path, key: Key, news: "News") -> None:
    assertions = Assertions(key)
    assertions.hear(news.status(state="unlocked"), "unlocked")
    caught = assertions.answer({"nonce": "old", "audience": "test"})

    async def run() -> None:
        replaying = LocalSocket(path, {"state": lambda _: caught})
        await replaying.open()
        with pytest.raises(GrantError, match="another question"):
            await state(path, key)
        await replaying.close()

    asyncio.run(run())


def test_somebody_else_s_session_opens_nothing(path: Path, key: Key, news: "News") -> None:
    async def work(sink: AssertionSink) -> None:
        await sink.notify(news("unlocked"))
        with pytest.raises(GrantError, match="somebody else than ben"):
            await state(path, key, "ben")

    in_session(path, key, work)


def test_an_answer_signed_by_another_key_opens_nothing(
    path: Path, key: Key, news: "News", tmp_path: Path
) -> None:
    other = signing_key(tmp_path / "else", "assertions")

    async def work(sink: AssertionSink) -> None:
        await sink.notify(news("unlocked"))
        with pytest.raises(GrantError, match="signature"):
            await state(path, other)

    in_session(path, key, work)


def test_the_socket_is_its_owner_s_alone_and_goes_away(path: Path, key: Key, news: "News") -> None:
    async def work(sink: AssertionSink) -> int:
        await sink.notify(news("unlocked"))
        return stat.S_IMODE(path.stat().st_mode)

    assert in_session(path, key, work) == 0o600
    assert not path.exists()


def test_a_dead_monitor_s_socket_is_replaced_and_a_living_one_s_is_not(
    path: Path, key: Key, news: "News"
) -> None:
    path.parent.mkdir()
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(path))
    dead.close()

    async def work(sink: AssertionSink) -> bool:
        await sink.notify(news("unlocked"))
        with pytest.raises(SinkError, match="another monitor listens"):
            await AssertionSink(path, key).notify(news("unlocked"))
        return (await state(path, key)).unlocked

    assert in_session(path, key, work)


def test_another_user_is_not_answered(
    path: Path, key: Key, news: "News", monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(sink: AssertionSink) -> None:
        await sink.notify(news("unlocked"))
        monkeypatch.setattr(local_socket, "peer_user", lambda _: 12345)
        with pytest.raises(GrantError, match="no monitor answers"):
            await state(path, key)

    in_session(path, key, work)


def test_the_kernel_says_who_is_at_the_other_end() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert local_client.peer_user(one) == os.getuid()


@pytest.mark.parametrize(
    "question",
    [
        b"",
        b"\n",
        b"{\n",
        b"[]\n",
        b"[" * 5000 + b"\n",
        b"{}\n",
        b'{"ask": "state"}\n',
        b'{"ask": []}\n',
        b'{"ask": "state", "nonce": "", "audience": "x"}\n',
        b'{"ask": "state", "nonce": 1, "audience": "x"}\n',
        b"x" * 100_000 + b"\n",
        b"\xff\n",
    ],
)
def test_a_bad_question_is_refused_and_the_next_one_answered(
    question: bytes, path: Path, key: Key, news: "News"
) -> None:
    def send() -> bytes:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(5.0)
            line.connect(str(path))
            try:
                line.sendall(question)
                line.shutdown(socket.SHUT_WR)
                return line.recv(8192)
            except OSError:
                return b""

    async def work(sink: AssertionSink) -> tuple[bytes, bool]:
        await sink.notify(news("unlocked"))
        return await asyncio.to_thread(send), (await state(path, key)).unlocked

    answer, unlocked = in_session(path, key, work)

    assert not answer or "error" in json.loads(answer)
    assert unlocked


@pytest.mark.parametrize("answer", [b"", b"{}\n", b"[]\n", b"no\n", b"x" * 20_000, b"{}"])
def test_what_is_no_answer_is_an_error(answer: bytes, path: Path, key: Key) -> None:
    path.parent.mkdir()

    def serve(server: socket.socket) -> None:
        line, _ = server.accept()
        with line, contextlib.suppress(OSError):
            line.recv(8192)
            line.sendall(answer)

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        with pytest.raises(GrantError):
            request_state(path, "anna", key=key, audience="test")
        thread.join()


def test_a_monitor_that_hangs_is_an_error_in_time(path: Path) -> None:
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(path))
        deaf.listen()
        began = time.monotonic()

        with pytest.raises(GrantError, match="no monitor answers"):
            request(path, {"ask": "state"}, timeout_s=0.2)

        assert time.monotonic() - began < 1.0


def test_a_monitor_of_another_user_is_not_believed(
    path: Path, key: Key, news: "News", monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(sink: AssertionSink) -> None:
        await sink.notify(news("unlocked"))
        monkeypatch.setattr(local_client, "peer_user", lambda _: 12345)
        with pytest.raises(GrantError, match="belongs to the user 12345"):
            await state(path, key)

    in_session(path, key, work)


def test_without_a_monitor_it_says_so(path: Path, key: Key) -> None:
    with pytest.raises(GrantError, match="no monitor answers on"):
        request_state(path, "anna", key=key, audience="test")
