"""The phone app Sensor Logger, pushing over HTTP what headphones feel."""

import time

from acclock.world.sources.callers import may_call, saying_where
from acclock.world.sources.frames import LARGEST_BYTES
from acclock.world.sources.messages import Reader
from acclock.world.sources.posts import Post, PostServer
from acclock.world.sources.relay import STALL_S, Inbox, relay
from acclock.world.sources.source import Faults, Stream, break_off


class SensorLoggerSource:
    """A server for the app's HTTP push. It takes our own frames, too.

    With a ``token`` the app must push to ``http://host:port/?token=...`` or send it as
    ``Authorization: Bearer``.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        rate_hz: float = 25.0,
        token: str | None = None,
        stall_s: float = STALL_S,
    ) -> None:
        self.name = f"sensor-logger:http://{host}:{port}"
        self.rate_hz = rate_hz
        self.faults: Faults = Faults()
        self.port = port
        """Where it listens; of port 0 it is known once the stream is read."""
        self._host = host
        self._token = token
        self._stall_s = stall_s

    def now_s(self) -> float:
        return time.monotonic()

    def stream(self) -> Stream:
        return relay(self._feed, faults=self.faults, stall_s=self._stall_s)

    async def _feed(self, inbox: Inbox) -> None:
        reader = Reader(self.faults)

        def take(post: Post) -> int:
            if not may_call(post.path, token=self._token, authorization=post.authorization):
                self.faults["refused caller"] += 1
                return 401
            inbox.put(reader.read(post.body, time.monotonic()))
            return 200

        def complain(status: int) -> None:
            self.faults["oversized message" if status == 413 else "unknown message"] += 1
            inbox.put([break_off("garbage")])

        posts = PostServer(take, complain, largest_body=LARGEST_BYTES)
        with saying_where(self._host, self.port):
            server = await posts.listen(self._host, self.port)
        async with server:
            self.port = server.sockets[0].getsockname()[1]
            await server.serve_forever()
