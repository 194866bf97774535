"""The monitor: what a source delivers becomes a session that is open or locked."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from math import inf

import numpy as np

from acclock.acquisition.admission import Counts
from acclock.acquisition.live import EvenSpan, LiveClock
from acclock.errors import AccLockError, GrantError, ModelError, MonitorError, VaultError
from acclock.live.chunks import Break, BreakReason, Chunk
from acclock.live.evidence import WINDOW_S
from acclock.live.grants import Grant
from acclock.live.lock import Lock
from acclock.live.policies import Policy
from acclock.live.session_state import SessionState
from acclock.monitor.enrolled_user import EnrolledUser, EnrolledVersion, TemplateChange
from acclock.monitor.publisher import EventPublisher
from acclock.sinks.sink import call_aside
from acclock.sources import Source
from acclock.system.supervision import Supervisor
from acclock.values import BoolArray, FloatArray

SUSPECT_S = 60.0
"""So long before a session ends, somebody else may have worn the earphone unnoticed."""
MOST = 256
"""When there are more, every other one goes: what is left spreads over all of the time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectedWindows:
    """What was heard since the template last changed. It is never written anywhere."""

    fresh: tuple[tuple[float, FloatArray], ...] = ()
    """Windows of the session that is open, and when each was heard."""
    ripe: tuple[FloatArray, ...] = ()
    """Windows about which nobody will have second thoughts."""


def collect_window(
    gathering: CollectedWindows, session_state: SessionState, embedding: FloatArray
) -> CollectedWindows:
    """Take a window, if the session is open, proven, and the window is no repetition.

    Good and poor windows count alike: whoever learns from them chooses (``matching.update``) or
    needs both (``matching.growth``).
    """
    last_s = gathering.fresh[-1][0] if gathering.fresh else float("-inf")
    if (
        not (session_state.unlocked and session_state.confirmed)
        or session_state.at_s - last_s < WINDOW_S
    ):
        return gathering
    return replace(gathering, fresh=(*gathering.fresh, (session_state.at_s, embedding)))


def ripen(gathering: CollectedWindows, session_state: SessionState) -> CollectedWindows:
    """Let time pass: what lies back far enough is ripe; a lock casts doubt on all the rest."""
    if session_state.unlocked:
        aged = [
            window for at_s, window in gathering.fresh if session_state.at_s - at_s >= SUSPECT_S
        ]
        return CollectedWindows(
            fresh=gathering.fresh[len(aged) :], ripe=_thin((*gathering.ripe, *aged))
        )
    return CollectedWindows(ripe=gathering.ripe) if gathering.fresh else gathering


def _thin(windows: tuple[FloatArray, ...]) -> tuple[FloatArray, ...]:
    return windows if len(windows) <= MOST else windows[::2]


_TICK_S = 0.25
"""How often the clock is looked at, whether or not anything arrives."""
_LOOK_S = 0.25
"""How often the vault is looked at: who was removed, or whose vault is gone, is locked by then."""
_ANSWER_S = 3.0
"""How long the vault may take to answer: as long as the service waits for its database. Removing
somebody else from a large PostgreSQL vault keeps everybody waiting for a while."""
_MOST_FAILURES = 5
"""A task that failed so often in a row ends the monitor."""
_LESSON_S = 60.0
"""How often the template may learn."""
_PIECE_S = 0.5
"""A session wants its samples in pieces of less than a second."""


class Monitor:
    """Keeps one person's session: open while it is their heartbeat, else locked.

    All times are those of the source's clock. Whatever goes wrong, the first thing that the
    outputs hear is that it is locked. A task that failed is started again, and ``report`` hears a
    sentence; once it is given up, nothing opens any more.
    """

    def __init__(
        self,
        user: EnrolledUser,
        source: Source,
        publisher: EventPublisher,
        *,
        policy: Policy,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self._user, self._source, self._publisher, self._policy = user, source, publisher, policy
        self._begin(user.newest)
        self._outdated = self._over = False
        self._stopped = asyncio.Event()
        self._report = report or publisher.complain
        self.task_failures: Counter[str] = Counter()
        """How often each task has failed."""

    @property
    def counts(self) -> Counts:
        """What became of the samples so far."""
        return self._clock.counts

    def grant(self, grant: Grant) -> None:
        """Let another factor open the session."""
        if self._over:
            raise GrantError("the monitor is ending; nothing opens any more")
        self._publisher.hear(self._session.grant(grant, self._source.now_s()))

    def lock(self) -> None:
        """Lock, because something that the session depends on has failed.

        A session that cannot even be locked is none: its outputs hear that it ended.
        """
        try:
            self._break_off("failure")
        except Exception:
            self._over = True
            self._publisher.stop("the monitor has failed")
            self._stopped.set()
            raise

    def stop(self) -> None:
        """Ask for the end; a signal may do that."""
        self._stopped.set()

    async def run(self, *, for_s: float = inf, beat: Callable[[], bool] = lambda: True) -> None:
        """Listen until the source ends, for a time, or until somebody says stop.

        ``beat`` is called at least twice a second and says whether the watchdog still watches.
        """
        self._publisher.start(self._session.session_state)
        parts = [one.run() for one in self._supervise(self._source.now_s() + for_s, beat)]
        tasks = [asyncio.create_task(part) for part in (*parts, self._wait_for_the_end())]
        reason = "the monitor has failed"
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                _consume_result(task)
            reason = "the monitor has ended"
        finally:
            self._over = True
            try:
                self._publisher.stop(reason)  # before anything that could take its time
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    def _supervise(self, end_s: float, beat: Callable[[], bool]) -> Iterator[Supervisor]:
        """Give who looks after each task; what a source says in a sentence is not tried again."""
        supervise = partial(
            Supervisor, lock=self.lock, report=self._note_failure, most_failures=_MOST_FAILURES
        )
        final, tick = (MonitorError, ModelError), partial(self._tick, end_s, beat)
        yield supervise(name="source", work=self._listen, final=(AccLockError,), may_return=True)
        yield supervise(name="clock", work=tick, final=final, may_return=True)
        yield supervise(name="vault", work=self._keep_checking, final=final)
        yield supervise(name="learning", work=self._learn_on, final=final)

    async def _wait_for_the_end(self) -> None:
        await self._stopped.wait()
        if self._over:
            raise MonitorError("the session could not be locked as it should; it was ended")

    def _note_failure(self, name: str, said: str) -> None:
        self.task_failures[name] += 1
        self._report(said)

    async def _listen(self) -> None:
        async with aclosing(self._source.stream()) as stream:
            async for piece in stream:
                if isinstance(piece, Break):
                    self._break_off(piece.reason)
                else:
                    self._take(piece)

    async def _tick(self, end_s: float, beat: Callable[[], bool]) -> None:
        while (now_s := self._source.now_s()) < end_s:
            self._publish(self._session.tick(now_s))
            if not beat():
                raise MonitorError("the watchdog is gone, and nothing is open without one")
            await asyncio.sleep(min(_TICK_S, self._policy.stall_s / 4))

    async def _keep_checking(self) -> None:
        """Follow what happens to the person in the vault."""
        while (news := await self._check_template()) != "gone":
            self._outdated = self._outdated or news == "changed"
            if self._user.newest.model is not self._model:
                self._gathering = CollectedWindows()  # embeddings of the model before
            await asyncio.sleep(_LOOK_S)
        self._gathering = CollectedWindows()
        self._publish(self._session.forget(self._source.now_s()))
        raise MonitorError(f"{self._user.name} is no longer in the vault; the session is locked")

    async def _check_template(self) -> TemplateChange:
        try:
            async with asyncio.timeout(_ANSWER_S):
                return await call_aside(self._user.look)
        except TimeoutError:
            raise VaultError(f"the vault has not answered for {_ANSWER_S:g} s") from None

    async def _learn_on(self) -> None:
        """Let the template learn now and then, beside everything else: writing may have to wait."""
        lesson_s = self._source.now_s() + _LESSON_S
        while True:
            await asyncio.sleep(_LOOK_S)
            if (now_s := self._source.now_s()) >= lesson_s:
                lesson_s = now_s + _LESSON_S
                await self._learn()

    async def _learn(self) -> None:
        if self._user.newest.model is not self._model:
            return  # what was gathered is of the model before
        if await call_aside(partial(self._user.learn, self._gathering.ripe)):
            self._gathering = CollectedWindows(fresh=self._gathering.fresh)
            self._outdated = True
            self._publisher.notify("template", self._session.session_state)

    def _begin(self, version: EnrolledVersion) -> None:
        """Begin anew by a template that may be another model's."""
        version.require(self._source)
        self._model = version.model
        self._session = version.open_session(self._policy)
        self._clock = LiveClock(source_hz=self._source.rate_hz, rate_hz=version.model.card.rate_hz)
        self._gathering = CollectedWindows()
        self._heard = False

    def _take(self, chunk: Chunk) -> None:
        # not while samples of a chunk are heard: they are at the rate of the model before
        newest = self._user.newest
        if newest.model is not self._model and self._may_renew(self._source.now_s()):
            self._outdated = False
            self._begin(newest)
        for span in self._clock.push(chunk.stamps_s, chunk.samples, chunk.received_s):
            if span.restarted and self._heard:
                self._publish(self._session.break_off("stall", self._source.now_s()))
            self._heard = True
            for samples, received in _cut(span, self._model.card.rate_hz):
                self._push(samples, received)
        # a chunk of which nothing could be used is silence, however much was in it
        self._publish(self._session.tick(self._source.now_s()))

    def _push(self, samples: FloatArray, received: BoolArray) -> None:
        """Do as ``Session.push`` does, and gather the windows on the way."""
        now_s = self._source.now_s()  # not when it was heard: what lay in a queue is old
        pending_windows = self._session.listen(samples, received, now_s)
        self._publish(self._session.session_state)
        if pending_windows:
            embeddings = self._model.embed(np.stack([one.samples for one in pending_windows]))
            for pending_window, embedding in zip(pending_windows, embeddings, strict=True):
                session_state = self._session.hear(pending_window, embedding, now_s)
                self._gathering = collect_window(self._gathering, session_state, embedding)
                self._publish(session_state)

    def _break_off(self, reason: BreakReason) -> None:
        self._clock.finish()  # what it held back is of no use: the break ends the session
        self._publish(self._session.break_off(reason, self._source.now_s()))

    def _publish(self, session_state: SessionState) -> None:
        self._publisher.hear(session_state)
        self._gathering = ripen(self._gathering, session_state)
        newest = self._user.newest
        if newest.model is self._model and self._may_renew(session_state.at_s):
            self._session, self._outdated = newest.open_session(self._policy), False

    def _may_renew(self, now_s: float) -> bool:
        return self._outdated and _is_at_rest(self._session.lock, now_s)


def _is_at_rest(lock: Lock, now_s: float) -> bool:
    """Tell whether a lock remembers nothing that a new one would not know."""
    pending_s = max(lock.waiting_until_s, lock.resumable_until_s, lock.lockout_until_s)
    quiet = not (lock.unlocked or lock.episodes or lock.forgotten)
    return quiet and pending_s <= now_s


def _cut(span: EvenSpan, rate_hz: float) -> Iterator[tuple[FloatArray, BoolArray]]:
    length = round(_PIECE_S * rate_hz)
    for start in range(0, span.received.size, length):
        part = slice(start, start + length)
        yield span.samples[:, part], span.received[part]


def _consume_result(task: "asyncio.Task[object]") -> None:
    """Raise what ended a task as one sentence; what it met may hold what is nobody's business."""
    try:
        task.result()
    except AccLockError:
        raise
    except Exception as error:
        kind = type(error).__name__
        raise MonitorError(f"the monitor met an unexpected {kind} and has locked") from error
