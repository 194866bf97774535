"""The parts of the service, put together."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass

from acclock.world.desk import Desk, open_desk
from acclock.world.service.board import Board
from acclock.world.service.config import ServiceConfig
from acclock.world.service.connection_limits import ConnectionLimits
from acclock.world.service.engine import Engine
from acclock.world.service.metrics import Metrics
from acclock.world.service.patience import allow_connections
from acclock.world.service.presence import Presence
from acclock.world.service.store import Store
from acclock.world.supervision import Supervisor, supervising
from acclock.world.vault.opening import open_vault


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Service:
    """Everything that a request may need."""

    config: ServiceConfig
    desk: Desk
    store: Store
    metrics: Metrics
    board: Board
    engine: Engine
    presence: Presence
    connections: ConnectionLimits
    desk_work: asyncio.Semaphore
    """Uploads are worked on one at a time: streams come first."""

    @property
    def ready(self) -> bool:
        return self.engine.well and self.presence.well


def open_service(config: ServiceConfig) -> Service:
    """Open the vault; nothing runs yet, and models are loaded when somebody needs them."""
    vault = open_vault(config.folder, url=config.database)
    desk = open_desk(vault, models=config.models, known=config.known_models)
    metrics, board = Metrics(), Board()
    store = Store(vault, metrics)
    engine = Engine(metrics, batch=config.batch, most_streams=config.most_streams)
    presence = Presence(
        config.replica, board=board, engine=engine, metrics=metrics, store=store, vault=vault
    )
    connections = ConnectionLimits(
        metrics,
        per_token=config.connections_per_token,
        per_address=config.connections_per_address,
        most=allow_connections(config.most_connections),
    )
    metrics.watch("connections", lambda: connections.held)
    metrics.watch("streams", lambda: engine.streams)
    metrics.watch("ready", lambda: engine.well and presence.well)
    return Service(
        config=config,
        desk=desk,
        store=store,
        metrics=metrics,
        board=board,
        engine=engine,
        presence=presence,
        connections=connections,
        desk_work=asyncio.Semaphore(1),
    )


@asynccontextmanager
async def running(service: Service) -> AsyncIterator[None]:
    """Run the engine and the exchange with the replicas for as long as this lasts."""
    loop = asyncio.get_running_loop()
    service.metrics.watch("tasks", lambda: len(asyncio.all_tasks(loop)))
    await service.presence.sync()
    try:
        async with supervising(
            supervise(service, "engine", service.engine.run, service.engine.lock_all),
            supervise(service, "replicas", service.presence.run, service.presence.lock),
        ):
            yield
    finally:
        await service.presence.leave()
        service.desk.vault.close()


def supervise(
    service: Service,
    name: str,
    work: Callable[[], Coroutine[None, None, None]],
    lock: Callable[[], None],
) -> Supervisor:
    """Give who looks after a background task of the service, and counts each end of it."""

    def count(name: str, _: str) -> None:
        service.metrics.count("task_failures", name)

    return Supervisor(name=name, work=work, lock=lock, report=count)
