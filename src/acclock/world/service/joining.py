"""How a stream becomes a live session, and how it ends."""

import asyncio
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from acclock.acquisition.live import LiveClock
from acclock.errors import ModelError
from acclock.session.policies import Policy
from acclock.session.reasons import Reason
from acclock.session.session import Session
from acclock.world.models.catalog import ChosenModel, LoadedModel
from acclock.world.service.board import Live, News
from acclock.world.service.listeners import Message
from acclock.world.service.refusals import RefusedError
from acclock.world.service.service import Service
from acclock.world.service.snapshots import Snapshot
from acclock.world.service.takeovers import take_over
from acclock.world.service.watching import Hear, Watching
from acclock.world.vault.people import Person

MOST_HZ, LEAST_HZ = 1000.0, 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a stream says about itself."""

    device: str = "stream"
    rate_hz: float = 100.0
    policy: Policy
    traced: bool = False


def new_stream() -> str:
    """Give a random name for a stream."""
    return secrets.token_hex(16)


def prepare(service: Service, person: Person, wanted: Wanted, hear: Hear) -> Watching:
    """Make a session from somebody's template. It reads the vault: not for the event loop."""
    template = service.desk.vault.template(person.name)
    model = service.desk.models.made(template.model)
    stream, preparation = new_stream(), model.preparation
    return Watching(
        stream=stream,
        session=Session(
            template,
            model.cohort,
            preparation,
            model.embed,
            wanted.policy,
            person=person.name,
        ),
        clock=make_clock(model, wanted.rate_hz),
        embed=model.embed,
        rate_hz=preparation.rate_hz,
        snapshot=Snapshot(
            session=stream,
            person=person.person,
            name=person.name,
            device=wanted.device,
            at=time.time(),
        ),
        hear=hear,
        traced=wanted.traced,
        news=[],
    )


def choose_model(service: Service, source_hz: float) -> ChosenModel:
    """Choose the model that enrolls from a source of that rate. It may load it from the disk."""
    _require_rate(source_hz)
    with _refuse_rate():
        return service.desk.models.choose(source_hz)


def make_clock(model: LoadedModel, source_hz: float) -> LiveClock:
    """Give a clock for a source of that rate, if the model can read it."""
    _require_rate(source_hz)
    with _refuse_rate():
        model.card.require_sampled(source_hz)
    return LiveClock(source_hz=source_hz, rate_hz=model.card.rate_hz)


def _require_rate(source_hz: float) -> None:
    if not LEAST_HZ <= source_hz <= MOST_HZ:
        raise RefusedError(
            422, "bad_rate", f"a stream has {LEAST_HZ:g} to {MOST_HZ:g} samples a second"
        )


@contextmanager
def _refuse_rate() -> Iterator[None]:
    try:
        yield
    except ModelError as refusal:
        raise RefusedError(422, "bad_rate", str(refusal)) from None


async def join(service: Service, watching: Watching, token: str) -> None:
    """Let a session live in the place of the person's last one, unless there are too many."""
    if not service.engine.admit(watching):
        service.metrics.count("refusals", "busy")
        raise RefusedError(503, "busy", "there are too many streams; come back later", wait_s=10)
    snapshot, board = watching.snapshot, service.board
    try:
        await run_in_threadpool(take_over, service.store, snapshot.person, watching.stream)
    except BaseException:
        service.engine.dismiss(watching)
        raise
    replaces = any(live.watching.snapshot.person == snapshot.person for live in board.live.values())
    board.live[watching.stream] = Live(watching=watching, token=token)
    board.publish(News(kind="started", snapshot=snapshot), share=True)
    if replaces:  # the database says which of the two is the newer one
        await asyncio.shield(service.presence.sync())


def leave(service: Service, watching: Watching) -> None:
    """End a session. Whoever comes back begins locked."""
    service.engine.dismiss(watching)
    if service.board.live.pop(watching.stream, None) is None:
        return
    ended = watching.snapshot.locked(Reason.DISCONNECTED)
    service.board.publish(News(kind="stopped", snapshot=ended), share=True)


def announce(service: Service, snapshot: Snapshot, news: list[Message]) -> None:
    """Tell those who listen to events what is new about a session, for as long as it lives."""
    if any(message["type"] == "superseded" for message in news):
        service.metrics.count("takeovers", "superseded")
    if snapshot.session not in service.board.live:
        return
    for message in news:
        match message["type"]:
            case "decision":
                service.board.publish(News(kind="session", snapshot=snapshot))
            case "change":
                kind = str(message["kind"])
                service.board.publish(News(kind=kind, snapshot=snapshot), share=True)
            case "trace":
                body = {key: told for key, told in message.items() if key != "type"}
                service.board.publish(News(kind="trace", snapshot=snapshot, body=body))
