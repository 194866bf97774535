"""Processes that serve: one, or several that share a port."""

import gc
import logging
import multiprocessing
import signal
import socket
import sys
import time
from dataclasses import replace
from multiprocessing.context import SpawnProcess
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from acclock.errors import ConfigError
from acclock.service.api.app import build_app
from acclock.service.config import ServiceConfig
from acclock.service.connections import PatientProtocol, allow_connections
from acclock.service.service import open_service
from acclock.sources.frames import LARGEST_BYTES

_BACKLOG = 2048
_LOOK_S = 1.0

_log = logging.getLogger(__name__)


def serve(config: ServiceConfig, sockets: list[socket.socket]) -> None:
    """Serve until told to stop: in this process, or in one for each socket."""
    if len(sockets) == 1:
        run(config, sockets[0])
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    workers = [_start(config, place, one) for place, one in enumerate(sockets)]
    try:
        while True:
            _replace_dead(config, sockets, workers)
    except KeyboardInterrupt:
        pass  # the workers hear it too
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()


def _start(config: ServiceConfig, place: int, one: socket.socket) -> SpawnProcess:
    named = replace(config, replica=f"{config.replica[:12]}{place:04d}")
    worker = multiprocessing.get_context("spawn").Process(target=run, args=(named, one))
    worker.start()
    return worker


def _replace_dead(
    config: ServiceConfig, sockets: list[socket.socket], workers: list[SpawnProcess]
) -> None:
    """Look at the workers once; who died is started again, on the socket where callers wait."""
    time.sleep(_LOOK_S)
    for place, worker in enumerate(workers):
        if not worker.is_alive():
            _log.warning("a worker ended with %s and is started again", worker.exitcode)
            workers[place] = _start(config, place, sockets[place])


def listen(config: ServiceConfig) -> list[socket.socket]:
    """Open the port once for each worker; the kernel deals out connections among them."""
    sockets: list[socket.socket] = []
    port = config.port
    for _ in range(config.workers):
        family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
        one = socket.socket(family, socket.SOCK_STREAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if config.workers > 1:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            one.bind((config.host, port))
        except OSError as error:
            one.close()
            raise ConfigError(
                f"cannot listen on {config.host}:{port}: {error.strerror or error}"
            ) from None
        one.listen(_BACKLOG)  # who calls before the model is loaded waits for it
        port = one.getsockname()[1]
        sockets.append(one)
    return sockets


def run(config: ServiceConfig, sock: socket.socket) -> None:
    """Serve one socket in this process."""
    app = build_app(open_service(config))
    gc.collect()
    gc.freeze()  # what is there now stays: looking through it again would hold up every stream
    uvicorn.Server(configure(config, app)).run(sockets=[sock])


def configure(config: ServiceConfig, app: FastAPI) -> uvicorn.Config:
    """Give how the server runs: no compression, small messages, short patience."""

    class Protocol(PatientProtocol):
        most_idle = config.connections_per_address
        trusted_proxies = config.trusted_proxies

    return uvicorn.Config(
        app,
        http=Protocol,
        ws="websockets-sansio",
        ws_max_size=LARGEST_BYTES,
        ws_per_message_deflate=False,
        ws_ping_interval=None,  # who says nothing for a while is sent away (connections.py)
        limit_concurrency=allow_connections(config.most_connections),
        timeout_keep_alive=10,
        timeout_graceful_shutdown=3,
        backlog=_BACKLOG,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ssl_certfile=_text(config.certificate),
        ssl_keyfile=_text(config.certificate_key),
    )


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
