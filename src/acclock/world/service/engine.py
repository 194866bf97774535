"""The one thread that does the arithmetic of all streams, in small batches and never late."""

import asyncio
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from acclock.session.chunks import Break, Chunk
from acclock.values import FloatArray
from acclock.world.service.listeners import Asked, Listener, Message
from acclock.world.service.metrics import Metrics

_DEADLINE_S = 0.01
"""How long a window waits for others to be embedded with."""
_TICK_S = 0.4
_LATE_S = 0.8
"""What has waited so long is not worked on any more: its stream locks instead."""
_SLOW_S, _QUICK_S = 0.5, 0.1
"""When the oldest waits so long, the engine is behind; when so short, it has caught up."""
_PATIENCE_S, _AGAIN_S = 1.0, 0.5
"""Who is behind for so long has too many streams, and then again every half second."""
_SHED_SHARE = 0.2
"""Of the streams, the newest first, each time that there are too many."""
_CALM_S = 5.0
"""How long no stream is admitted after some were shed."""
_MOST_WAITING = 32
"""Pieces of one stream."""

_log = logging.getLogger(__name__)

Work = Callable[[], None]
SHED: Message = {"type": "shed", "sentence": "there are too many streams; come back later"}


class _Item(NamedTuple):
    listener: Listener
    piece: Chunk | Break | Work
    at_s: float


class Engine:
    """Takes pieces of all streams from the event loop and tells it what came of them.

    Work that waited too long is dropped and its stream locks; when that goes on, the newest
    streams are told to leave, so that the others are served in time. An answer that is late is
    never given as if it were fresh: the session itself looks at when its samples were heard.
    """

    def __init__(
        self,
        embed: Callable[[FloatArray], FloatArray],
        metrics: Metrics,
        *,
        batch: int = 16,
        most_streams: int = 400,
    ) -> None:
        self._embed, self._metrics = embed, metrics
        self._batch, self._most = batch, most_streams
        self._inbox: deque[_Item] = deque()
        self._waiting: Counter[str] = Counter()
        self._door = threading.Condition()
        self._listeners: dict[str, Listener] = {}  # in the order in which they came
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._running = False
        self._ticked_s = self._shed_s = -np.inf
        self._behind_s: float | None = None
        self.alive_s = time.monotonic()
        """When the thread last went round."""

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._running = loop, True
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        with self._door:
            self._running = False
            self._door.notify()
        if self._thread is not None:
            self._thread.join(5.0)

    @property
    def streams(self) -> int:
        return len(self._listeners)

    @property
    def busy(self) -> bool:
        """Whether one more stream would be one too many."""
        calm = time.monotonic() - self._shed_s >= _CALM_S
        return not calm or self.streams >= self._most

    @property
    def well(self) -> bool:
        """Whether the thread goes round."""
        return time.monotonic() - self.alive_s < 2.0

    def admit(self, listener: Listener) -> bool:
        """Take a stream on, unless there are too many."""
        with self._door:
            if self.busy:
                return False
            self._listeners[listener.stream] = listener
        return True

    def dismiss(self, listener: Listener) -> None:
        with self._door:
            self._forget(listener)

    def feed(self, listener: Listener, piece: Chunk | Break | Work) -> bool:
        """Queue a piece; say no when the stream has too many waiting."""
        with self._door:
            if listener.stream not in self._listeners:
                return True  # it was shed, and hears of it
            if self._waiting[listener.stream] >= _MOST_WAITING:
                return False
            self._waiting[listener.stream] += 1
            self._inbox.append(_Item(listener, piece, time.monotonic()))
            self._door.notify()
        return True

    def lock_all(self) -> None:
        """Lock every session: the service cannot vouch for them any longer."""
        for listener in list(self._listeners.values()):
            self.feed(listener, lambda one=listener: one.lock(time.monotonic()))  # type: ignore[misc]

    def _run(self) -> None:
        while self._running:
            self.alive_s = time.monotonic()
            items = self._gather()
            touched = {item.listener.stream: item.listener for item in items}
            self._work(items)
            touched |= self._tick()
            self._post(touched.values())

    def _gather(self) -> list[_Item]:
        """Wait for pieces, a moment longer for more of them, and take what makes a batch."""
        with self._door:
            self._door.wait_for(lambda: self._inbox or not self._running, _TICK_S / 2)
            if self._inbox:
                left_s = self._inbox[0].at_s + _DEADLINE_S - time.monotonic()
                self._door.wait_for(lambda: len(self._inbox) >= self._batch, max(left_s, 0.0))
            items = [self._inbox.popleft() for _ in range(min(self._batch, len(self._inbox)))]
            for item in items:
                self._waiting[item.listener.stream] -= 1
        return items

    def _work(self, items: list[_Item]) -> None:
        asked: list[Asked] = []
        for item in items:
            asked += self._listen(item)
        if not asked:
            return
        embeddings = self._embed(np.stack([one.samples for one in asked]))
        now_s = time.monotonic()
        for one, embedding in zip(asked, embeddings, strict=True):
            one.answer(embedding, now_s)
            self._metrics.wait(now_s - one.heard_s)

    def _listen(self, item: _Item) -> list[Asked]:
        listener, piece = item.listener, item.piece
        if listener.stream not in self._listeners:
            return []
        waited_s = time.monotonic() - item.at_s
        self._keep_up(waited_s)
        try:
            if waited_s > _LATE_S and isinstance(piece, Chunk):
                self._metrics.count("shed", "late")
                listener.lock(time.monotonic())
                return []
            if isinstance(piece, Chunk | Break):
                return listener.take(piece)
            piece()
        except Exception:  # noqa: BLE001 - one stream's trouble must not end the others'
            _log.exception("a stream failed")
            self._metrics.count("shed", "failed")
            self._send_away(listener)
        return []

    def _tick(self) -> dict[str, Listener]:
        now_s = time.monotonic()
        if now_s - self._ticked_s < _TICK_S:
            return {}
        self._ticked_s = now_s
        listeners = dict(self._listeners)
        for listener in listeners.values():
            listener.tick(now_s)
        return listeners

    def _keep_up(self, waited_s: float) -> None:
        """Shed streams when work has waited too long for too long; a hiccup is no overload."""
        now_s = time.monotonic()
        if waited_s < _QUICK_S:
            self._behind_s = None
        elif waited_s > _SLOW_S and self._behind_s is None:
            self._behind_s = now_s
        elif self._behind_s is not None and now_s - self._behind_s > _PATIENCE_S:
            self._behind_s = now_s - _PATIENCE_S + _AGAIN_S
            self._shed_newest()

    def _shed_newest(self) -> None:
        """Send the newest streams away, by far fewer each time than would empty the house."""
        self._shed_s = time.monotonic()
        newest = list(self._listeners.values())[::-1]
        for listener in newest[: max(1, round(_SHED_SHARE * len(newest)))]:
            self._metrics.count("shed", "overload")
            self._send_away(listener)

    def _send_away(self, listener: Listener) -> None:
        listener.lock(time.monotonic())
        listener.news.append(SHED)
        with self._door:
            self._forget(listener)
        self._post([listener])

    def _forget(self, listener: Listener) -> None:
        self._listeners.pop(listener.stream, None)
        self._waiting.pop(listener.stream, None)
        kept = [item for item in self._inbox if item.listener is not listener]
        if len(kept) != len(self._inbox):
            self._inbox = deque(kept)

    def _post(self, listeners: Iterable[Listener]) -> None:
        told = [(listener, listener.news) for listener in listeners if listener.news]
        for listener, _ in told:
            listener.news = []
        if told and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_tell, told)


def _tell(told: list[tuple[Listener, list[Message]]]) -> None:
    for listener, news in told:
        listener.tell(news)
