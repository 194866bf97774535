import asyncio
import json
import os
import signal
import ssl
import subprocess
import sys
import time
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from joserfc import jwt
from joserfc.jwk import Key, KeySet

from acclock.access.signing_keys import public_keys, signing_key
from acclock.errors import SinkError
from acclock.sinks.outbox import Outbox
from acclock.sinks.posting import post
from acclock.sinks.security_events import CAEP, Addresses
from acclock.sinks.webhook import Webhook
from acclock.system.supervision import Retry

if TYPE_CHECKING:
    from tests.sinks.conftest import News

Soon = Callable[..., Coroutine[None, None, None]]
Behavior = str
QUICK = Retry(first_s=0.02, longest_s=0.1)


class Receiver:
    """A web server that misbehaves as it is told, then accepts."""

    def __init__(self, *behaviors: Behavior) -> None:
        self.behaviors = list(behaviors)
        self.requests: list[tuple[str, bytes]] = []
        self.accepted: list[bytes] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = int(head.lower().partition("content-length: ")[2].split("\r")[0])
            body = await reader.readexactly(length)
            self.requests.append((head, body))
            await self.behave(self.behaviors.pop(0) if self.behaviors else "202", body, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def behave(self, how: Behavior, body: bytes, writer: asyncio.StreamWriter) -> None:
        if how == "reset":
            writer.transport.abort()
        elif how == "hang":
            await asyncio.sleep(30)
        elif how == "drip":
            for _ in range(300):
                writer.write(b"x")
                await asyncio.sleep(0.1)
        elif how == "garbage":
            writer.write(b"\0" * 10_000 + b"\r\n\r\n")
        elif how == "vanish":
            self.accepted.append(body)
        else:
            if how.startswith("2"):
                self.accepted.append(body)
            reason = json.dumps({"err": "invalid_key", "description": "unknown\nkey"})
            where = f"\r\nLocation: {self.url}/elsewhere"
            answer = f"HTTP/1.1 {how} X{where}\r\nContent-Length: {len(reason)}\r\n\r\n{reason}"
            writer.write(answer.encode())

    def numbers(self) -> list[str]:
        return [read(body)["jti"] for body in self.accepted]


def read(body: bytes) -> dict[str, Any]:
    payload = body.split(b".")[1]
    said: dict[str, Any] = json.loads(urlsafe_b64decode(payload + b"=" * (-len(payload) % 4)))
    return said


@asynccontextmanager
async def serving(receiver: Receiver) -> AsyncIterator[Receiver]:
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    receiver.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/events"
    yield receiver
    server.close()


def webhook(url: str, key: Key, folder: Path, **more: Any) -> Webhook:  # noqa: ANN401
    addresses = Addresses(issuer="https://me.example", audience="https://idp.example")
    return Webhook(url, key=key, folder=folder, addresses=addresses, retry=QUICK, **more)


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return signing_key(tmp_path / "home", "events")


def test_a_receiver_gets_a_signed_event_that_its_keys_confirm(
    news: "News", key: Key, tmp_path: Path, soon: Soon
) -> None:
    async def run() -> Receiver:
        async with serving(Receiver()) as receiver:
            sink = webhook(receiver.url, key, tmp_path, token="secret")  # noqa: S106
            await sink.notify(news("unlocked"))
            await sink.notify(news("locked", decision="no_signal", reason="the earphone is out"))
            await soon(lambda: len(receiver.accepted) == 2)
            await sink.close()
            return receiver

    receiver = asyncio.run(run())

    head, body = receiver.requests[1]
    keys = KeySet.import_key_set(public_keys(tmp_path / "home", "events"))  # type: ignore[arg-type]
    token = jwt.decode(body, keys, algorithms=["ES256"])
    assert head.startswith("POST /events HTTP/1.1\r\n")
    assert "\r\nContent-Type: application/secevent+jwt\r\n" in head
    assert "\r\nAuthorization: Bearer secret\r\n" in head
    assert token.header == {"typ": "secevent+jwt", "alg": "ES256", "kid": key.kid}
    assert token.claims["aud"] == "https://idp.example"
    assert {"exp", "sub", "nbf"}.isdisjoint(token.claims)
    assert token.claims["events"] == {
        f"{CAEP}session-revoked": {
            "event_timestamp": 1740821415,
            "initiating_entity": "policy",
            "reason_admin": {"en": "the earphone is out"},
        }
    }


@pytest.mark.parametrize("trouble", ["500", "503", "429", "401", "302", "reset", "garbage"])
def test_what_fails_is_sent_again_with_the_same_number(
    trouble: str, news: "News", key: Key, tmp_path: Path, soon: Soon
) -> None:
    async def run() -> Receiver:
        async with serving(Receiver(trouble, trouble, trouble)) as receiver:
            sink = webhook(receiver.url, key, tmp_path)
            await sink.notify(news("unlocked"))
            await soon(lambda: receiver.accepted)
            with pytest.raises(SinkError, match=r"the receiver answered|cannot be told"):
                await sink.refresh(news.status())
            await sink.close()
            return receiver

    receiver = asyncio.run(run())

    assert len({body for _, body in receiver.requests}) == 1
    assert len(receiver.requests) == 4
    assert all(head.startswith("POST /events ") for head, _ in receiver.requests)


@pytest.mark.parametrize("trouble", ["hang", "drip"])
def test_a_receiver_that_hangs_is_left_in_time(trouble: str) -> None:
    async def run() -> float:
        async with serving(Receiver(trouble)) as receiver:
            began = time.monotonic()
            with pytest.raises(SinkError, match=r"did not answer within 0\.3 s"):
                await post(receiver.url, b"x", {}, timeout_s=0.3)
            return time.monotonic() - began

    assert asyncio.run(run()) < 1.0


def test_what_is_refused_for_good_is_laid_aside_and_told(
    news: "News", key: Key, tmp_path: Path, soon: Soon
) -> None:
    async def run() -> Receiver:
        async with serving(Receiver("400")) as receiver:
            sink = webhook(receiver.url, key, tmp_path)
            await sink.notify(news("unlocked"))
            await soon(lambda: list(tmp_path.glob("*/*.refused")))
            with pytest.raises(SinkError, match=r"refused an event \(400\): unknown�key"):
                await sink.refresh(news.status())
            await sink.notify(news("locked"))
            await soon(lambda: receiver.accepted)
            await sink.close()
            return receiver

    receiver = asyncio.run(run())

    assert len(receiver.requests) == 2
    assert list(read(receiver.accepted[0])["events"]) == [f"{CAEP}session-revoked"]


@pytest.mark.parametrize("error", [RuntimeError("a bug"), None])
def test_a_delivery_that_fails_is_told_and_goes_on(
    news: "News",
    key: Key,
    tmp_path: Path,
    soon: Soon,
    kill_task: Callable[..., None],
    error: Exception | None,
) -> None:
    async def run() -> int:
        async with serving(Receiver()) as receiver:
            sink = webhook(receiver.url, key, tmp_path)
            await sink.notify(news("unlocked"))
            await soon(lambda: len(receiver.accepted) == 1)
            kill_task("delivery", error)
            await asyncio.sleep(0.05)
            with pytest.raises(SinkError, match="the task delivery"):
                await sink.refresh(news.status())
            await sink.notify(news("locked"))
            await soon(lambda: len(receiver.accepted) == 2)
            await sink.close()
            return len(receiver.accepted)

    assert asyncio.run(run()) == 2


def test_an_event_told_twice_is_sent_once(
    news: "News", key: Key, tmp_path: Path, soon: Soon
) -> None:
    event = news("unlocked")

    async def run() -> Receiver:
        async with serving(Receiver()) as receiver:
            sink = webhook(receiver.url, key, tmp_path)
            await sink.notify(event)
            await soon(lambda: receiver.accepted)
            await sink.notify(event)
            await sink.notify(news("locked"))
            await soon(lambda: len(receiver.accepted) == 2)
            await sink.close()
            return receiver

    assert len(asyncio.run(run()).requests) == 2


def test_a_restart_sends_what_was_not_confirmed_and_nothing_else(
    news: "News", key: Key, tmp_path: Path, soon: Soon
) -> None:
    async def run() -> Receiver:
        async with serving(Receiver("202", *["503"] * 1000)) as receiver:
            first = webhook(receiver.url, key, tmp_path)
            await first.notify(news("unlocked"))
            await soon(lambda: receiver.accepted)
            await first.notify(news("locked"))
            await soon(lambda: len(receiver.requests) > 3)
            await first.close()
            receiver.behaviors.clear()
            second = webhook(receiver.url, key, tmp_path)
            await second.refresh(news.status())
            await soon(lambda: len(receiver.accepted) == 2)
            await second.close()
            return receiver

    receiver = asyncio.run(run())

    assert len(set(receiver.numbers())) == 2
    assert not list(tmp_path.glob("*/*.letter"))


def test_a_session_that_died_open_is_revoked_at_the_next_start(
    news: "News", key: Key, tmp_path: Path, soon: Soon
) -> None:
    async def run() -> Receiver:
        async with serving(Receiver()) as receiver:
            died = webhook(receiver.url, key, tmp_path)
            await died.notify(news("unlocked"))
            await soon(lambda: receiver.accepted)
            again = webhook(receiver.url, key, tmp_path)
            await again.notify(news("started", session="s2"))
            await soon(lambda: len(receiver.accepted) == 2)
            await again.close()
            await died.close()
            return receiver

    receiver = asyncio.run(run())

    assert list(read(receiver.accepted[1])["events"]) == [f"{CAEP}session-revoked"]


SENDER = """
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path
from acclock.live.events import SessionEvent, SessionStatus
from acclock.access.signing_keys import signing_key
from acclock.system.supervision import Retry
from acclock.sinks.security_events import Addresses
from acclock.sinks.webhook import Webhook
url, folder, first = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
async def run():
    addresses = Addresses(issuer="i", audience="a")
    sink = Webhook(url, key=signing_key(folder, "events"), folder=folder / "unsent",
                   addresses=addresses, retry=Retry(first_s=0.01, longest_s=0.02))
    for number in range(first, first + 40):
        state = "unlocked" if number % 2 else "locked"
        status = SessionStatus(
            session="s", person="p", device="d", at=datetime.now(UTC), state=state
        )
        await sink.notify(SessionEvent(kind=state, number=number, status=status))
        print(number, flush=True)
    await sink.close()
    print("done", flush=True)
asyncio.run(run())
"""


def test_a_process_killed_again_and_again_sends_each_event_under_one_number(
    tmp_path: Path, soon: Soon
) -> None:
    async def run() -> Receiver:
        async with serving(Receiver(*["202", "500", "vanish", "202"] * 10)) as receiver:
            told, sender = 0, [sys.executable, "-c", SENDER, receiver.url, str(tmp_path)]
            for _ in range(4):
                words = [*sender, str(told + 1)]
                process = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE)
                assert process.stdout is not None
                for _ in range(15):
                    told = int(await process.stdout.readline())
                os.kill(process.pid, signal.SIGKILL)
                await process.wait()
            words = [*sender, str(told + 1)]
            process = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE)
            out, _ = await process.communicate()
            assert out.endswith(b"done\n")
            await soon(lambda: not list(tmp_path.glob("unsent/*/*.letter")))
            return receiver

    receiver = asyncio.run(run())

    tokens = {body for _, body in receiver.requests}
    numbers = [read(body)["jti"] for body in tokens]
    assert len(numbers) == len(set(numbers)), "one number was signed twice with other words"
    assert set(numbers) == set(receiver.numbers()), "something was never confirmed"
    assert len(receiver.accepted) <= len(numbers) + 4 + 10, "more than crashes and lost answers"


def test_a_receiver_that_hangs_delays_no_lock(news: "News", key: Key, tmp_path: Path) -> None:
    async def run() -> float:
        async with serving(Receiver(*["hang"] * 10)) as receiver:
            sink = webhook(receiver.url, key, tmp_path)
            async with Outbox([sink], parting_s=0.2) as outbox:
                outbox.notify(news("unlocked"))
                await asyncio.sleep(0.2)
                began = time.monotonic()
                outbox.notify(news("locked"))
                while outbox.tallies[sink.name].told < 2:
                    await asyncio.sleep(0.005)
                return time.monotonic() - began

    assert asyncio.run(run()) < 0.5
    assert len(list(tmp_path.glob("*/*.letter"))) == 2


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("ftp://idp.example", "is not an address like"),
        ("https://", "is not an address like"),
        ("https://idp.example:x/", "is not an address like"),
        ("http://idp.example/", "by https:// only"),
        ("https://me:pw@idp.example/", "does not belong into the address"),
        ("https://idp.example/\r\nX: y", "must be escaped"),
        ("https://idp.example/a b", "must be escaped"),
    ],
)
def test_an_address_that_is_unsafe_is_refused(
    url: str, sentence: str, key: Key, tmp_path: Path
) -> None:
    with pytest.raises(SinkError, match=sentence):
        webhook(url, key, tmp_path)


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    files = ["-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "crt"), "-days", "1"]
    subprocess.run([*make, *files], check=True, capture_output=True)  # noqa: S603
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "crt", tmp_path / "key")

    async def run() -> None:
        receiver = Receiver()
        server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(SinkError, match="certificate"):
            await post(f"https://localhost:{port}/", b"x", {}, timeout_s=5.0)
        server.close()
        assert receiver.requests == []

    asyncio.run(run())
