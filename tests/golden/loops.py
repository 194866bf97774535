"""The two loops from frames to decisions, driven by a clock that is set by hand.

All that the traces need to know of the program is in this file: when modules move or the loops
become one, only this file changes.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain
from math import inf
from operator import methodcaller
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from acclock.embedding.embedder import Embedder
from acclock.errors import AccLockError, NameRefusedError
from acclock.live.answers import Reason
from acclock.live.chunks import Break, Chunk
from acclock.live.events import SessionEvent, SessionStatus
from acclock.live.grants import Grant
from acclock.live.policies import POLICIES, Policy, policy_named
from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import enroll
from acclock.matching.template import Template
from acclock.models.catalog import LoadedModel
from acclock.models.cohorts import cohort_path, read_cohort
from acclock.models.files import find_model, read_model
from acclock.monitor.enrolled_user import EnrolledUser
from acclock.monitor.monitor import Monitor
from acclock.monitor.publisher import EventPublisher
from acclock.pipeline.observation import observe
from acclock.recognizer import Recognizer
from acclock.recordings import open_dataset
from acclock.service.metrics import Metrics
from acclock.service.refusals import RefusedError
from acclock.service.streams.connection import FrameReader
from acclock.service.streams.engine import Engine
from acclock.service.streams.joining import StreamRequest, prepare
from acclock.service.streams.listener import Message
from acclock.service.streams.snapshots import SessionSnapshot
from acclock.service.streams.stream_session import StreamSession
from acclock.simulation import Scene, draw_person, simulate
from acclock.sources.frames import encode
from acclock.sources.messages import Reader
from acclock.sources.relay import RelayInbox, relay
from acclock.sources.simulator import SimulatorSource
from acclock.sources.source import Faults, Stream, break_off
from acclock.values import FloatArray, Recording
from tests.golden.clocks import (
    BEGIN_S,
    Clock,
    ImpatientCondition,
    ManualLoop,
    Row,
    Timed,
    Timeline,
    TraceRecorder,
    manual_clock,
)
from tests.golden.frames import Damage, SentFrame, Signal, cut_frames, spoil
from tests.golden.scripts import Played, Script

NAME = "anna"
_DEVICE_BEGIN_S = 5000.0
_ENROLLED = datetime(2026, 1, 5, tzinfo=UTC)
_ENGINE_WAITS_S, _IDLE_ROUND_S = 0.03, 0.2
"""How long the engine waits for others to work on a piece with, and for a first one."""
POLICY_NAMES = tuple(POLICIES)
SESSION_REASONS = frozenset(Reason) - {
    *(Reason.MOTION, Reason.WEAK, Reason.WARM_UP),  # said of windows
    Reason.SUPERSEDED,  # decided above the loops
}
"""Why a loop locks or unlocks a session."""
_WORDS = {reason.sentence: reason.value for reason in Reason}


# --- who wears the earphone, and who is enrolled ---


class CachedModel:
    """The shipped model; windows that both loops ask about are embedded once."""

    def __init__(self, embedder: Embedder) -> None:
        self.card, self._embedder = embedder.card, embedder
        self._known: dict[bytes, FloatArray] = {}

    def embed(self, windows: FloatArray) -> FloatArray:
        keys = [window.tobytes() for window in windows]
        new = [place for place, key in enumerate(keys) if key not in self._known]
        if new:
            embeddings = self._embedder.embed(windows[new])
            self._known |= {keys[place]: row for place, row in zip(new, embeddings, strict=True)}
        return np.stack([self._known[key] for key in keys])


@cache
def load_model() -> tuple[CachedModel, Cohort]:
    path = find_model("default")
    embedder = Embedder(read_model(path))
    cohort = read_cohort(cohort_path(Path(path)), model=embedder.fingerprint)
    return CachedModel(embedder), cohort


@cache
def load(dataset: str, person: str, session: str) -> Recording:
    """Read a real recording."""
    folder = Path(os.environ["ACCLOCK_DATA"])
    entries = open_dataset(folder / f"{dataset}-dev.zip").of([person])
    return next(entry for entry in entries if entry.session == session).load(100.0)


@cache
def enroll_user(user: tuple[str, str, tuple[str, ...]] | None) -> Template:
    embedder, cohort = load_model()
    if user is None:
        worn = [simulate(draw_person(0), Scene(duration_s=180.0)).recording]
    else:
        dataset, person, sessions = user
        worn = [load(dataset, person, session) for session in sessions]
    good = np.vstack([observe(recording, embedder).good for recording in worn])
    return enroll(good, cohort=cohort, now=_ENROLLED)


@cache
def list_frames(script: Script) -> list[SentFrame]:
    if isinstance(script.acts, str):
        parts = (SimulatorSource(one, rate_hz=script.rate_hz) for one in script.acts.split(";"))
        drawn = chain.from_iterable(part.pieces() for part in parts)
        pieces = [_as_signal(one) if isinstance(one, Break) else one for one in drawn]
    else:
        pieces = [_cut_out(one) for one in script.acts]
    return spoil(cut_frames(pieces), script.damages)


def _as_signal(broken: Break) -> Signal:
    return "removed" if broken.reason == "removed" else "disconnect"


def _cut_out(played: Played) -> Recording:
    whole = load(played.dataset, played.person, played.session)
    count = round(played.for_s * whole.rate_hz)
    return Recording(
        samples=whole.samples[:, :count],
        rate_hz=whole.rate_hz,
        received=whole.received[:count],
    )


def _write_message(frame: SentFrame, *, first: int = 0) -> bytes | str:
    """Write what travels; frames are numbered from ``first``."""
    if frame.spoiled == "text":
        return '{"battery": 80}'
    data = encode(
        frame.samples,
        sequence=first + frame.sequence,
        time_us=round((_DEVICE_BEGIN_S + frame.stamp_s) * 1e6),
        period_us=round(frame.period_s * 1e6),
    )
    if frame.spoiled == "cut":
        return data[:-7]
    return data[:5] + b"\xff" + data[6:] if frame.spoiled == "flipped" else data


class OnePersonVault:
    """Knows the user, until they are removed, and keeps what was learned."""

    def __init__(self, template: Template) -> None:
        self._templates: list[Template] = [template]

    def person(self, name: str) -> Any:  # noqa: ANN401 - as much of a person as loops read
        if not self._templates:
            raise NameRefusedError(f"nobody is enrolled under the name {name!r}")
        return SimpleNamespace(person="1", name=name, version=len(self._templates))

    def template(self, _name: str, version: int | None = None) -> Template:
        return self._templates[(version or 0) - 1]

    def clock(self) -> datetime:
        return _ENROLLED

    def revise(self, name: str, template: Template, **_: object) -> Any:  # noqa: ANN401
        self._templates.append(template)
        return self.person(name)

    def remove(self) -> None:
        self._templates.clear()


def _open_recognizer(script: Script, model: LoadedModel) -> Recognizer:
    vault: Any = OnePersonVault(enroll_user(script.user))
    models: Any = SimpleNamespace(made=lambda _: model, name_of=lambda _: model.name)
    return Recognizer(vault=vault, models=models)


def _policy(script: Script) -> Policy:
    return policy_named(script.policy).opened_by(script.entry)


class SlowModel:
    """The model, which now and then takes its time."""

    def __init__(
        self, clock: Clock, damages: Iterable[Damage], wait: Callable[[float], None]
    ) -> None:
        self._model, self._clock, self._wait = load_model()[0], clock, wait
        self._slow = [one for one in damages if one.kind == "slow model"]
        self.card = self._model.card

    def load(self) -> LoadedModel:
        """Give it as the loops know a model."""
        embedder: Any = self
        return LoadedModel(name="default", embedder=embedder, cohort=load_model()[1])

    def embed(self, windows: FloatArray) -> FloatArray:
        for one in self._slow:
            if one.from_s < self._clock.passed_s <= one.until_s:
                self._wait(one.size)
        return self._model.embed(windows)


# --- the monitor ---


class FrameSource:
    """A source of frames, such as that of a WebSocket, without the socket."""

    name = "frames"

    def __init__(self, frames: Sequence[SentFrame], *, rate_hz: float) -> None:
        self.rate_hz, self.faults = rate_hz, Faults()
        self._frames = frames

    def now_s(self) -> float:
        return time.monotonic()

    def stream(self) -> Stream:
        return relay(self._feed, faults=self.faults)

    async def _feed(self, inbox: RelayInbox) -> None:
        reader = Reader(self.faults)
        for frame in self._frames:
            await asyncio.sleep(max(0.0, BEGIN_S + frame.at_s - time.monotonic()))
            if frame.signal == "disconnect":
                reader.forget()
            if frame.signal is not None:
                inbox.put([break_off(frame.signal)])
            else:
                inbox.put(reader.read(_write_message(frame), time.monotonic()))


class MonitorRecorder(TraceRecorder):
    """Writes down what a monitor tells."""

    def notify(self, event: SessionEvent) -> None:
        if event.kind in ("template", "trouble"):
            self.rows.append((round(self.clock.passed_s, 2), event.kind, event.note, ""))
        self.refresh(event.status)

    def refresh(self, status: SessionStatus) -> None:
        self.record(status.state, _WORDS.get(status.reason, status.reason), status.confidence)


def run_monitor(script: Script) -> list[Row]:
    """Let a monitor take a stream."""
    with manual_clock() as clock:
        recorder, loop = MonitorRecorder(clock), ManualLoop(clock)
        try:
            loop.run_until_complete(_watch(script, recorder, clock))
        except AccLockError as error:
            recorder.record("locked", str(error))
        finally:
            loop.close()
    return recorder.rows


async def _watch(script: Script, recorder: MonitorRecorder, clock: Clock) -> None:
    recognizer = _open_recognizer(script, SlowModel(clock, script.damages, clock.skip).load())
    vault: Any = recognizer.vault
    source = FrameSource(list_frames(script), rate_hz=script.rate_hz)
    publisher = EventPublisher([recorder], person=NAME, device="frames", clock=lambda: _ENROLLED)
    monitor = Monitor(EnrolledUser(recognizer, NAME), source, publisher, policy=_policy(script))
    loop = asyncio.get_running_loop()

    def grant(for_s: float) -> None:
        monitor.grant(Grant(person=NAME, expires_s=time.monotonic() + for_s))

    for at_s, for_s in script.grants:
        loop.call_at(BEGIN_S + at_s, grant, for_s)
    if script.deleted_s is not None:
        loop.call_at(BEGIN_S + script.deleted_s, vault.remove)
    for damage in script.damages:
        if damage.kind in ("frozen", "busy"):
            loop.call_at(BEGIN_S + damage.from_s, clock.skip, damage.for_s)
        if damage.kind == "failure":
            loop.call_at(BEGIN_S + damage.from_s, monitor.lock)
    await monitor.run()


# --- the service ---


class ManualEngine(Engine):
    """An engine that goes round when it is told to, and not in a thread."""

    def __init__(self, model: SlowModel) -> None:
        super().__init__(Metrics())
        self.model = model.load()
        self._inbox._door = ImpatientCondition()
        at_once: Any = SimpleNamespace(
            is_closed=lambda: False, call_soon_threadsafe=lambda call, *what: call(*what)
        )
        self._loop = at_once

    def run_once(self) -> None:
        """Go round once, and until nothing waits."""
        self._go_round()
        while self._inbox._items:
            self._go_round()


class ServedStream:
    """One client of the service, and what it is told."""

    def __init__(self, script: Script, engine: ManualEngine, clock: Clock) -> None:
        self._script, self._engine, self.recorder = script, engine, TraceRecorder(clock)
        self._recognizer = _open_recognizer(script, engine.model)
        self._watching: StreamSession | None = None
        self._over = False

    def list_events(self) -> Iterator[Timed]:
        frames = list_frames(self._script)
        frozen = [one for one in self._script.damages if one.kind == "frozen"]
        for frame in frames:
            thaws_s = (one.until_s for one in frozen if one.from_s < frame.at_s <= one.until_s)
            yield max(frame.at_s, *thaws_s, 0.0), partial(self._receive, frame)
        for at_s, for_s in self._script.grants:
            yield at_s, partial(self._order, methodcaller("grant", for_s))
        if self._script.deleted_s is not None:
            yield self._script.deleted_s, partial(self._order, methodcaller("forget"))
        yield frames[-1].at_s + 0.1, partial(self._end, Reason.DISCONNECTED.value)

    def _receive(self, frame: SentFrame) -> None:
        if self._over:
            return
        if frame.signal == "disconnect":
            self._leave(Reason.DISCONNECTED.value)
            return
        if self._watching is None:
            self._watching = self._join(frame)
        try:
            piece = self._read(frame)
        except RefusedError as refusal:
            self._end(f"refused: {refusal.code}")
            return
        if piece is not None and not self._engine.feed(self._watching, piece):
            self._end("refused: flood")

    def _read(self, frame: SentFrame) -> Chunk | Break | None:
        if frame.signal is not None:
            return Break(reason="removed", received_s=time.monotonic())
        piece = self._intake.read(_write_message(frame, first=self._first))
        assert not isinstance(piece, dict)
        return piece

    def _join(self, frame: SentFrame) -> StreamSession:
        self._intake = FrameReader(Metrics())
        self._first = self._intake.first - frame.sequence
        service: Any = SimpleNamespace(recognizer=self._recognizer)
        person = self._recognizer.vault.person(NAME)
        wanted = StreamRequest(policy=_policy(self._script), rate_hz=self._script.rate_hz)
        watching = prepare(service, person, wanted, self._report)
        assert self._engine.admit(watching)
        self.recorder.record("locked", watching.snapshot.reason.value)
        return watching

    def _order(self, work: Callable[[StreamSession], None]) -> None:
        if (watching := self._watching) is not None:
            self._engine.feed(watching, lambda: work(watching))

    def _report(self, snapshot: SessionSnapshot, news: list[Message]) -> None:
        if self._watching is not None:
            self.recorder.record(snapshot.state, snapshot.reason.value, snapshot.confidence)
            for message in news:
                if message["type"] in ("shed", "forgotten"):
                    self._end(message["type"])

    def _leave(self, reason: str) -> None:
        if self._watching is not None:
            self._engine.dismiss(self._watching)
            self._watching = None
            self.recorder.record("locked", reason)

    def _end(self, reason: str) -> None:
        self._leave(reason)
        self._over = True


def run_service(scripts: Sequence[Script]) -> list[list[Row]]:
    """Let one engine take streams that all begin at once."""
    damages = [damage for script in scripts for damage in script.damages]
    busy = [one for one in damages if one.kind in ("frozen", "busy")]
    with manual_clock() as clock:
        timeline = Timeline(clock)
        engine = ManualEngine(SlowModel(clock, damages, timeline.wait))
        streams = [ServedStream(script, engine, clock) for script in scripts]
        timeline.plan(chain.from_iterable(one.list_events() for one in streams))
        failures = [one for one in damages if one.kind == "failure"]
        timeline.plan((failure.from_s, engine.lock_all) for failure in failures)
        while timeline.next_s < inf:
            idle_s = timeline.next_s - clock.passed_s + _ENGINE_WAITS_S
            timeline.wait(min(idle_s, _IDLE_ROUND_S))
            if not any(one.from_s < clock.passed_s < one.until_s for one in busy):
                engine.run_once()
    return [stream.recorder.rows for stream in streams]
