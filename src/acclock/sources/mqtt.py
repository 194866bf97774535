"""Messages of an MQTT topic: what Sensor Logger publishes, or our own frames."""

import time

from acclock.errors import MissingExtraError
from acclock.sources.frames import LARGEST_BYTES
from acclock.sources.messages import Reader
from acclock.sources.relay import STALL_S, Backoff, RelayInbox, keep_connected, relay
from acclock.sources.source import Faults, Stream, break_off

try:
    import aiomqtt
except ImportError:
    raise MissingExtraError(package="aiomqtt", extra="mqtt") from None


class MqttSource:
    """Listens to a topic of a broker, and connects again whenever the broker is lost."""

    def __init__(
        self,
        host: str,
        port: int,
        topic: str,
        *,
        rate_hz: float = 25.0,
        stall_s: float = STALL_S,
        backoff: Backoff | None = None,
    ) -> None:
        self.name = f"mqtt://{host}:{port}/{topic}"
        self.rate_hz = rate_hz
        self.faults: Faults = Faults()
        self._host, self._port, self._topic = host, port, topic
        self._stall_s = stall_s
        self._backoff = backoff or Backoff()

    def now_s(self) -> float:
        return time.monotonic()

    def stream(self) -> Stream:
        return relay(self._feed, faults=self.faults, stall_s=self._stall_s)

    async def _feed(self, inbox: RelayInbox) -> None:
        async def listen() -> None:
            reader = Reader(self.faults)
            async with aiomqtt.Client(self._host, self._port) as client:
                await client.subscribe(self._topic)
                async for message in client.messages:
                    self._read(message.payload, reader, inbox)

        await keep_connected(
            listen,
            inbox,
            failures=(OSError, aiomqtt.MqttError),
            faults=self.faults,
            backoff=self._backoff,
        )

    def _read(self, payload: object, reader: Reader, inbox: RelayInbox) -> None:
        data = bytes(payload) if isinstance(payload, bytes | bytearray) else b""
        if len(data) > LARGEST_BYTES:
            self.faults["oversized message"] += 1
            inbox.put([break_off("garbage")])
            return
        inbox.put(reader.read(data, time.monotonic()))
