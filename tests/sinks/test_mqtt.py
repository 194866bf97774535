import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiomqtt
import pytest

from acclock.errors import ConfigError
from acclock.sinks import mqtt
from acclock.sinks.mqtt import Broker, Mqtt, Topics, identify
from acclock.sinks.outbox import Outbox
from acclock.system.supervision import Retry

if TYPE_CHECKING:
    from tests.conftest import Mosquitto
    from tests.sinks.conftest import News

Soon = Callable[..., Coroutine[None, None, None]]


class Listener:
    """Home Assistant's ears: everything that the broker passes on, by topic."""

    def __init__(self, broker: "Mosquitto") -> None:
        self.broker = broker
        self.heard: list[tuple[str, str, bool]] = []
        self.client: aiomqtt.Client | None = None

    async def run(self) -> None:
        while True:
            try:
                async with aiomqtt.Client(self.broker.host, self.broker.port) as client:
                    await client.subscribe("#", qos=1)
                    self.client = client
                    async for message in client.messages:
                        assert isinstance(message.payload, bytes)
                        text = message.payload.decode()
                        self.heard.append((str(message.topic), text, message.retain))
            except aiomqtt.MqttError:
                await asyncio.sleep(0.05)

    def said(self, topic: str) -> list[str]:
        return [text for where, text, _ in self.heard if where == topic]

    def states(self, topic: str) -> list[str]:
        return [json.loads(text)["state"] for text in self.said(topic)]


@asynccontextmanager
async def listening(broker: "Mosquitto", soon: Soon) -> AsyncIterator[Listener]:
    """Listen for as long as this lasts."""
    listener = Listener(broker)
    task = asyncio.create_task(listener.run())
    await soon(lambda: listener.client)
    yield listener
    task.cancel()


def sink(broker: "Mosquitto") -> Mqtt:
    where = Broker(host=broker.host, port=broker.port)
    return Mqtt(where, retry=Retry(first_s=0.05, longest_s=0.2))


@pytest.fixture
def topics(news: "News") -> Topics:
    return Topics(identifier=identify(news.status()))


def test_home_assistant_finds_the_lock_and_hears_of_every_change(
    mosquitto: "Mosquitto", news: "News", topics: Topics, soon: Soon
) -> None:
    async def run() -> Listener:
        async with listening(mosquitto, soon) as listener:
            async with Outbox([sink(mosquitto)]) as outbox:
                outbox.notify(news("started"))
                await soon(lambda: listener.states(topics.state) == ["locked"])
                outbox.notify(news("unlocked", heart_rate_bpm=61.04, confidence="high"))
                await soon(lambda: listener.states(topics.state)[-1] == "unlocked")
                outbox.notify(news("locked"))
                await soon(lambda: listener.states(topics.state)[-1] == "locked")
            await soon(lambda: listener.said(topics.availability) == ["online", "offline"])
        return listener

    listener = asyncio.run(run())

    config = json.loads(listener.said(topics.config)[0])
    lock = config["components"]["lock"]
    assert lock["device_class"] == "lock"
    assert (lock["payload_on"], lock["payload_off"]) == ("unlocked", "locked")
    assert all(part["expire_after"] == 10 for part in config["components"].values())
    assert all(part["unique_id"] and part["platform"] for part in config["components"].values())
    assert config["origin"]["name"] == "acclock"
    assert config["state_topic"] == topics.state
    assert config["availability_topic"] == topics.availability
    assert 61.0 in [json.loads(text)["heart_rate_bpm"] for text in listener.said(topics.state)]


def test_what_the_broker_keeps_is_the_discovery_and_never_a_state(
    mosquitto: "Mosquitto", news: "News", topics: Topics, soon: Soon
) -> None:
    async def run() -> Listener:
        early, late = Listener(mosquitto), Listener(mosquitto)
        tasks = [asyncio.create_task(early.run())]
        await soon(lambda: early.client)
        async with Outbox([sink(mosquitto)]) as outbox:
            outbox.notify(news("unlocked"))
            await soon(lambda: early.states(topics.state))
            tasks.append(asyncio.create_task(late.run()))
            await soon(lambda: len(late.heard) >= 2)
            await asyncio.sleep(0.1)
            kept = Listener(mosquitto)
            kept.heard = [heard for heard in late.heard if heard[2]]
        for task in tasks:
            task.cancel()
        return kept

    kept = asyncio.run(run())

    assert sorted(where for where, _, _ in kept.heard) == sorted(
        [topics.config, topics.availability]
    )


def test_home_assistant_that_starts_later_is_told_again(
    mosquitto: "Mosquitto", news: "News", topics: Topics, soon: Soon
) -> None:
    async def run() -> None:
        async with (
            listening(mosquitto, soon) as listener,
            Outbox([sink(mosquitto)]) as outbox,
        ):
            outbox.notify(news("unlocked"))
            await soon(lambda: listener.said(topics.state))
            assert listener.client is not None
            await listener.client.publish("homeassistant/status", "offline")
            await listener.client.publish("homeassistant/status", "online")
            await soon(lambda: len(listener.said(topics.config)) == 2)
            await soon(lambda: len(listener.states(topics.state)) == 2)

    asyncio.run(run())


def test_after_the_broker_was_away_the_last_state_is_told(
    mosquitto: "Mosquitto", news: "News", topics: Topics, soon: Soon
) -> None:
    troubles = list[str]()

    async def run() -> Listener:
        async with (
            listening(mosquitto, soon) as listener,
            Outbox([sink(mosquitto)], report=troubles.append) as outbox,
        ):
            outbox.notify(news("unlocked"))
            await soon(lambda: listener.states(topics.state))
            await asyncio.to_thread(mosquitto.stop)
            await asyncio.sleep(0.3)
            outbox.notify(news("locked"))
            await asyncio.sleep(0.3)
            assert await asyncio.to_thread(mosquitto.start)
            await soon(lambda: listener.states(topics.state)[-1] == "locked")
        return listener

    asyncio.run(run())

    assert any("the broker" in trouble for trouble in troubles)


@pytest.mark.parametrize("error", [RuntimeError("a bug"), None])
def test_a_connection_that_fails_says_so_and_is_made_again(
    mosquitto: "Mosquitto",
    news: "News",
    topics: Topics,
    soon: Soon,
    kill_task: Callable[..., None],
    error: Exception | None,
) -> None:
    async def run() -> list[str]:
        async with listening(mosquitto, soon) as listener, Outbox([sink(mosquitto)]) as outbox:
            outbox.notify(news("unlocked"))
            await soon(lambda: listener.states(topics.state) == ["unlocked"])
            kill_task("connection to mqtt", error)
            await soon(lambda: listener.said(topics.availability)[-1] == "offline")
            outbox.notify(news("locked"))
            await soon(lambda: listener.states(topics.state)[-1] == "locked")
            return listener.said(topics.availability)

    assert asyncio.run(run()) == ["online", "offline", "online"]


def test_a_sink_that_vanishes_is_declared_offline_by_the_broker(
    mosquitto: "Mosquitto", news: "News", topics: Topics, soon: Soon
) -> None:
    async def run() -> None:
        async with listening(mosquitto, soon) as listener:
            vanishing = sink(mosquitto)
            await vanishing.notify(news("unlocked"))
            await soon(lambda: listener.states(topics.state))
            assert vanishing._client is not None
            vanishing._client._client._sock_close()  # as if the process were gone
            await soon(lambda: "offline" in listener.said(topics.availability))
            await vanishing.close()

    asyncio.run(run())


def test_an_unchanged_state_is_said_again_before_it_expires_and_not_at_every_decision(
    mosquitto: "Mosquitto",
    news: "News",
    topics: Topics,
    soon: Soon,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mqtt, "_BETWEEN_S", 0.3)

    async def run() -> int:
        async with listening(mosquitto, soon) as listener:
            speaking = sink(mosquitto)
            await speaking.notify(news("unlocked"))
            await soon(lambda: listener.states(topics.state))
            for _ in range(20):
                await speaking.refresh(news.status(state="unlocked"))
                await asyncio.sleep(0.05)
            count = len(listener.states(topics.state))
            await speaking.close()
        return count

    assert 3 <= asyncio.run(run()) <= 6


@pytest.mark.parametrize("prefix", ["", "a/#", "a+b", "a b", "\n"])
def test_a_prefix_that_is_none_is_refused(prefix: str) -> None:
    with pytest.raises(ConfigError, match="not a prefix"):
        Mqtt(Broker(host="localhost", prefix=prefix))


def test_no_topic_gives_a_name_away(news: "News") -> None:
    one, other = (Topics(identifier=identify(news.status(person=who))) for who in ("anna", "ben"))

    assert one.state != other.state
    assert "anna" not in one.state + one.config + one.availability
