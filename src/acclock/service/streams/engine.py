"""The one thread that computes all streams, in small batches, and its overload."""

import asyncio
import logging
import math
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial

from acclock.live.chunks import Break, Chunk
from acclock.service.metrics import Metrics
from acclock.service.streams.batches import Batcher, EngineInbox, InboxItem, ReceivedPiece, Work
from acclock.service.streams.listener import Message, StreamListener

_SLOW_S, _BETTER_S, _QUICK_S = 0.5, 0.25, 0.1
"""When the oldest waits so long, the engine is behind; when so short, it is catching up, or has."""
_PATIENCE_S, _AGAIN_S = 1.0, 0.5
"""Who is no better after so long has too many streams, and then again every half second."""
_CALM_S = 5.0
"""How long no stream is admitted after some were shed."""


class Overload:
    """Watches how long pieces wait. A hiccup is no overload."""

    def __init__(self) -> None:
        self._behind_s: float | None = None
        self._shed_s = -math.inf

    def is_over(self, now_s: float) -> bool:
        """Whether nobody had to be sent away for a while."""
        return now_s - self._shed_s >= _CALM_S

    def note(self, waited_s: float, now_s: float) -> bool:
        """Note how long a piece waited; say whether streams must be sent away now.

        >>> overload = Overload()
        >>> [overload.note(0.6, now_s) for now_s in (10.0, 10.9, 11.1, 11.2, 11.7)]
        [False, False, True, False, True]
        >>> hiccup = Overload()
        >>> [hiccup.note(*one) for one in ((0.6, 10.0), (0.4, 10.5), (0.2, 11.1), (0.05, 12.0))]
        [False, False, False, False]
        """
        if waited_s < _QUICK_S:
            self._behind_s = None
        elif waited_s > _SLOW_S and self._behind_s is None:
            self._behind_s = now_s
        elif (
            self._behind_s is not None
            and now_s - self._behind_s > _PATIENCE_S
            and waited_s > _BETTER_S
        ):
            self._behind_s = now_s - _PATIENCE_S + _AGAIN_S
            self._shed_s = now_s
            return True
        return False


_TICK_S = 0.4
_LATE_S = 0.8
"""What has waited so long is not worked on any more: its stream locks instead."""
_SHED_SHARE = 0.2
"""Of the streams, the newest first, each time that there are too many."""
_PARTING_S = 5.0
"""How long the thread may take to finish its round at the end."""
_log = logging.getLogger(__name__)

SHED: Message = {"type": "shed", "sentence": "there are too many streams; come back later"}


class Engine:
    """Takes pieces of all streams from the event loop and tells it what came of them.

    Work that waited too long is dropped and its stream locks; when that goes on, the newest
    streams are told to leave, so that the others are served in time. An answer that is late is
    never given as if it were fresh: the session itself looks at when its samples were heard.
    """

    def __init__(self, metrics: Metrics, *, batch: int = 16, most_streams: int = 400) -> None:
        self._metrics, self._most = metrics, most_streams
        self._batcher = Batcher(metrics=metrics, guard=self._guard)
        self._inbox = EngineInbox(batch)
        self._listeners: dict[str, StreamListener] = {}  # in the order in which they came
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._running = self._must_lock = False
        self._overload = Overload()
        self._ticked_s = -math.inf
        self.alive_s = time.monotonic()
        """When the thread last went round."""

    async def run(self) -> None:
        """Work in a thread of its own until cancelled; what ends the thread is raised here."""
        self._loop, self._running = asyncio.get_running_loop(), True
        ended: Future[None] = Future()
        ended.set_running_or_notify_cancel()
        self._thread = threading.Thread(
            target=self._work, args=(ended,), name="engine", daemon=True
        )
        self._inbox.open()
        self._thread.start()
        try:
            await asyncio.wrap_future(ended)
        finally:
            self._running = False
            self._inbox.close()
            self._thread.join(_PARTING_S)

    @property
    def streams(self) -> int:
        return len(self._listeners)

    @property
    def busy(self) -> bool:
        """Whether one more stream would be one too many."""
        return not self._overload.is_over(time.monotonic()) or self.streams >= self._most

    @property
    def well(self) -> bool:
        """Whether the thread goes round."""
        return self._runs and time.monotonic() - self.alive_s < 2.0

    def admit(self, listener: StreamListener) -> bool:
        """Take a stream on, unless there are too many."""
        if self.busy:
            return False
        self._listeners[listener.stream] = listener
        return True

    def dismiss(self, listener: StreamListener) -> None:
        self._listeners.pop(listener.stream, None)
        self._inbox.forget(listener)

    def feed(self, listener: StreamListener, piece: Chunk | Break | Work) -> bool:
        """Queue a piece; say no when the stream has too many waiting."""
        if listener.stream not in self._listeners:
            return True  # it was shed, and hears of it
        return self._inbox.put(listener, piece)

    def lock_all(self) -> None:
        """Lock every session: the service cannot vouch for them any longer."""
        self._must_lock = True
        if not self._runs:
            self._lock_all_now()

    @property
    def _runs(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _work(self, ended: "Future[None]") -> None:
        try:
            # one that hung for so long that another took its place ends when it comes back
            while self._running and self._thread is threading.current_thread():
                self._go_round()
        except Exception as error:  # noqa: BLE001 - handed to whoever runs the engine
            ended.set_exception(error)
        finally:
            if not ended.done():
                ended.set_result(None)

    def _go_round(self) -> None:
        self.alive_s = time.monotonic()
        items = self._inbox.take(_TICK_S / 2)
        touched = {item.listener.stream: item.listener for item in items}
        self._batcher.work(self._choose(items))
        if self._must_lock:
            self._lock_all_now()
        touched |= self._tick()
        self._post(touched.values())

    def _lock_all_now(self) -> None:
        self._must_lock = False
        listeners = list(self._listeners.values())
        for listener in listeners:
            with self._guard(listener):
                listener.lock(time.monotonic())
        self._post(listeners)

    def _choose(self, items: list[InboxItem]) -> list[ReceivedPiece]:
        """Give what is worth working on; a stream whose piece is too old for that locks."""
        chosen: list[ReceivedPiece] = []
        for listener, piece, at_s in items:
            now_s = time.monotonic()
            if self._overload.note(now_s - at_s, now_s):
                self._shed_newest()
            if now_s - at_s > _LATE_S and isinstance(piece, Chunk):
                self._metrics.count("shed", "late")
                chosen.append((listener, partial(listener.lock, now_s)))
            else:
                chosen.append((listener, piece))
        return [one for one in chosen if one[0].stream in self._listeners]

    @contextmanager
    def _guard(self, listener: StreamListener) -> Iterator[None]:
        try:
            yield
        except Exception:  # noqa: BLE001 - one stream's trouble must not end the others'
            _log.exception("a stream failed")
            self._metrics.count("shed", "failed")
            self._send_away(listener)

    def _tick(self) -> dict[str, StreamListener]:
        now_s = time.monotonic()
        if now_s - self._ticked_s < _TICK_S:
            return {}
        self._ticked_s = now_s
        listeners = dict(self._listeners)
        for listener in listeners.values():
            with self._guard(listener):
                listener.tick(now_s)
        return listeners

    def _shed_newest(self) -> None:
        """Send the newest streams away, by far fewer each time than would empty the house."""
        newest = list(self._listeners.values())[::-1]
        for listener in newest[: max(1, round(_SHED_SHARE * len(newest)))]:
            self._metrics.count("shed", "overload")
            self._send_away(listener)

    def _send_away(self, listener: StreamListener) -> None:
        try:
            listener.lock(time.monotonic())
        except Exception:  # noqa: BLE001 - its connection is closed, which ends the session
            _log.exception("a stream cannot be locked")
        listener.news.append(SHED)
        self.dismiss(listener)
        self._post([listener])

    def _post(self, listeners: Iterable[StreamListener]) -> None:
        told = [(listener, listener.news) for listener in listeners if listener.news]
        for listener, _ in told:
            listener.news = []
        if told and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._deliver, told)

    def _deliver(self, told: list[tuple[StreamListener, list[Message]]]) -> None:
        for listener, news in told:
            try:
                listener.notify(news)
            except Exception:  # noqa: BLE001 - the others must hear that they are locked
                _log.exception("a stream cannot be told its news")
                self._metrics.count("shed", "failed")
                self._inbox.put(listener, partial(self._send_away, listener))
