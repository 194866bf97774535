"""The parts of the service, put together."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass

from acclock.recognizer import Recognizer, open_recognizer
from acclock.service.config import ServiceConfig
from acclock.service.connections import ConnectionLimits, allow_connections
from acclock.service.metrics import Metrics
from acclock.service.replicas.sync import ReplicaSync
from acclock.service.store import ServiceStore
from acclock.service.streams.engine import Engine
from acclock.service.streams.registry import SessionRegistry
from acclock.system.supervision import Supervisor, supervising
from acclock.vault.opening import open_vault


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Service:
    """Everything that a request may need."""

    config: ServiceConfig
    recognizer: Recognizer
    store: ServiceStore
    metrics: Metrics
    registry: SessionRegistry
    engine: Engine
    replica_sync: ReplicaSync
    connections: ConnectionLimits
    recognizer_work: asyncio.Semaphore
    """Uploads are worked on one at a time: streams come first."""

    @property
    def ready(self) -> bool:
        return self.engine.well and self.replica_sync.well


def open_service(config: ServiceConfig) -> Service:
    """Open the vault; nothing runs yet, and models are loaded when somebody needs them."""
    vault = open_vault(config.folder, url=config.database)
    recognizer = open_recognizer(vault, models=config.models, known=config.known_models)
    metrics, registry = Metrics(), SessionRegistry()
    store = ServiceStore(vault, metrics)
    engine = Engine(metrics, batch=config.batch, most_streams=config.most_streams)
    replica_sync = ReplicaSync(
        config.replica, registry=registry, engine=engine, metrics=metrics, store=store, vault=vault
    )
    connections = ConnectionLimits(
        metrics,
        per_token=config.connections_per_token,
        per_address=config.connections_per_address,
        most=allow_connections(config.most_connections),
    )
    metrics.watch("connections", lambda: connections.held)
    metrics.watch("streams", lambda: engine.streams)
    metrics.watch("ready", lambda: engine.well and replica_sync.well)
    return Service(
        config=config,
        recognizer=recognizer,
        store=store,
        metrics=metrics,
        registry=registry,
        engine=engine,
        replica_sync=replica_sync,
        connections=connections,
        recognizer_work=asyncio.Semaphore(1),
    )


@asynccontextmanager
async def running(service: Service) -> AsyncIterator[None]:
    """Run the engine and the exchange with the replicas for as long as this lasts."""
    loop = asyncio.get_running_loop()
    service.metrics.watch("tasks", lambda: len(asyncio.all_tasks(loop)))
    await service.replica_sync.sync()
    try:
        async with supervising(
            supervise(service, "engine", service.engine.run, service.engine.lock_all),
            supervise(service, "replicas", service.replica_sync.run, service.replica_sync.lock),
        ):
            yield
    finally:
        await service.replica_sync.leave()
        service.recognizer.vault.close()


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
