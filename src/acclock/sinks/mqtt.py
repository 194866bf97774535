"""An MQTT broker, and through it Home Assistant: topics, discovery and states."""

import asyncio
import contextlib
import hashlib
import json
import random
import ssl
import time
from dataclasses import dataclass
from functools import partial

import aiomqtt

from acclock.errors import ConfigError, SinkError
from acclock.live.events import SessionEvent, SessionStatus, State
from acclock.sinks.sink import as_json, printable, state_after, status_facts
from acclock.system.supervision import Retry, Supervisor

EXPIRE_AFTER_S = 10
"""Without news for so long, Home Assistant takes the sensors for unavailable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """Where things are published. Names of people are in no topic."""

    identifier: str
    prefix: str = "homeassistant"

    def __post_init__(self) -> None:
        if not self.prefix or any(c in "+#\0 " or not c.isprintable() for c in self.prefix):
            raise ConfigError(f"{self.prefix!r} is not a prefix of MQTT topics")

    @property
    def config(self) -> str:
        return f"{self.prefix}/device/{self.identifier}/config"

    @property
    def birth(self) -> str:
        """Where Home Assistant says that it has started and wants to hear everything again."""
        return f"{self.prefix}/status"

    @property
    def state(self) -> str:
        return f"acclock/{self.identifier}/state"

    @property
    def availability(self) -> str:
        return f"acclock/{self.identifier}/availability"


def identify(status: SessionStatus) -> str:
    """Give a short name for this person's lock on this device, which gives neither away."""
    both = f"{status.person}\0{status.device}".encode("utf-8", "replace")
    return "acclock_" + hashlib.sha256(both).hexdigest()[:12]


def discovery(status: SessionStatus, topics: Topics) -> str:
    """Give the one message that makes a device with its sensors in Home Assistant."""
    shared = {"expire_after": EXPIRE_AFTER_S}
    components: dict[str, dict[str, object]] = {
        "lock": {
            "platform": "binary_sensor",
            "name": "Lock",
            "device_class": "lock",  # on means unlocked
            "value_template": "{{ value_json.state }}",
            "payload_on": "unlocked",
            "payload_off": "locked",
            "json_attributes_topic": topics.state,
        },
        "heart_rate": {
            "platform": "sensor",
            "name": "Heart rate",
            "icon": "mdi:heart-pulse",
            "unit_of_measurement": "bpm",
            "state_class": "measurement",
            "value_template": "{{ value_json.heart_rate_bpm }}",
        },
        "confidence": {
            "platform": "sensor",
            "name": "Confidence",
            "device_class": "enum",
            "options": ["low", "medium", "high"],
            "value_template": "{{ value_json.confidence }}",
        },
    }
    return json.dumps(
        {
            "device": {
                "identifiers": [topics.identifier],
                "name": f"AccLock {printable(status.person)}",
                "manufacturer": "AccLock",
                "model": printable(status.device),
            },
            "origin": {"name": "acclock"},
            "components": {
                name: component | shared | {"unique_id": f"{topics.identifier}_{name}"}
                for name, component in components.items()
            },
            "state_topic": topics.state,
            "availability_topic": topics.availability,
            "qos": 1,
        }
    )


def state_message(status: SessionStatus, state: State) -> str:
    """Give how the session stands."""
    return as_json(status_facts(status) | {"state": state})


_KEEPALIVE_S = 5
_BETWEEN_S = EXPIRE_AFTER_S / 5
"""How often an unchanged state is said again: well before it expires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """Where the broker is and who asks."""

    host: str
    port: int = 1883
    prefix: str = "homeassistant"
    username: str | None = None
    password: str | None = None
    tls: bool = False


class Mqtt:
    """Publishes the state to a broker, and again whenever the connection is back.

    The state is not retained: a broker that kept "unlocked" would tell it after this process died.
    """

    def __init__(self, broker: Broker, *, retry: Retry | None = None) -> None:
        self.name = f"mqtt://{broker.host}:{broker.port}"
        self._broker, self._retry = broker, retry or Retry(longest_s=10.0)
        Topics(identifier="any", prefix=broker.prefix)  # a prefix that is none is refused at once
        self._status: SessionStatus | None = None
        self._state: State = "locked"
        self._said_s, self._said = 0.0, ""
        self._client: aiomqtt.Client | None = None
        self._trouble = ""
        self._task: asyncio.Task[None] | None = None

    async def notify(self, event: SessionEvent) -> None:
        self._status, self._state = event.status, state_after(event)
        self._start()
        await self._publish_state()

    async def refresh(self, status: SessionStatus) -> None:
        self._status, self._state = status, status.state
        self._start()
        if self._state != self._said or time.monotonic() - self._said_s >= _BETWEEN_S:
            await self._publish_state()

    async def close(self) -> None:
        self._state = "locked"
        if self._task is None:
            return
        with contextlib.suppress(SinkError):
            await self._publish_state()
        self._task.cancel()
        await asyncio.wait({self._task}, timeout=1.0)

    def _topics(self, status: SessionStatus) -> Topics:
        return Topics(identifier=identify(status), prefix=self._broker.prefix)

    def _start(self) -> None:
        if self._status is not None and (self._task is None or self._task.done()):
            supervisor = Supervisor(
                name=f"connection to {self.name}",
                work=partial(self._stay_connected, self._status),
                lock=self._lose,
                report=self._note,
            )
            self._task = asyncio.create_task(supervisor.run())

    def _lose(self) -> None:
        """Publish everything anew; the broker was told that this is offline, which is no yes."""
        self._client, self._said = None, ""

    def _note(self, _: str, said: str) -> None:
        self._trouble = said

    async def _publish_state(self) -> None:
        if self._client is None or self._status is None:
            if self._trouble:
                raise SinkError(self._trouble)
            return  # the first connection is being made, and says it then
        message = state_message(self._status, self._state)
        try:
            await self._client.publish(self._topics(self._status).state, message, qos=1)
        except aiomqtt.MqttError as error:
            raise SinkError(f"the broker did not take the state: {error}") from error
        self._said, self._said_s = self._state, time.monotonic()

    async def _stay_connected(self, status: SessionStatus) -> None:
        topics, failures = self._topics(status), 0
        while True:
            try:
                async with self._make_client(topics) as client:
                    failures = 0
                    await self._attend(client, status, topics)
            except (aiomqtt.MqttError, SinkError, OSError, ValueError) as error:
                self._trouble = f"the broker is not reached: {error}"
            finally:
                self._client = None
            failures += 1
            await asyncio.sleep(self._retry.wait_s(failures, random.random()))  # noqa: S311 - no secret

    def _make_client(self, topics: Topics) -> aiomqtt.Client:
        broker = self._broker
        return aiomqtt.Client(
            broker.host,
            broker.port,
            username=broker.username,
            password=broker.password,
            tls_context=ssl.create_default_context() if broker.tls else None,
            will=aiomqtt.Will(topics.availability, "offline", qos=1, retain=True),
            keepalive=_KEEPALIVE_S,
            timeout=_KEEPALIVE_S,
            max_queued_incoming_messages=16,
        )

    async def _attend(self, client: aiomqtt.Client, status: SessionStatus, topics: Topics) -> None:
        """Speak to the broker; however that ends, it hears that nobody speaks any more."""
        await client.subscribe(topics.birth, qos=1)
        self._client = client
        try:
            await self._introduce(client, status, topics)
            async for message in client.messages:
                if message.payload == b"online":
                    await self._introduce(client, status, topics)
        finally:
            with contextlib.suppress(aiomqtt.MqttError):
                await client.publish(topics.availability, "offline", qos=1, retain=True)

    async def _introduce(
        self, client: aiomqtt.Client, status: SessionStatus, topics: Topics
    ) -> None:
        await client.publish(topics.config, discovery(status, topics), qos=1, retain=True)
        await client.publish(topics.availability, "online", qos=1, retain=True)
        await self._publish_state()
