"""The service as replicas on a Ray cluster: the same application behind Ray Serve."""

import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from acclock.errors import ClusterError, ConfigError
from acclock.service.api.app import build_app
from acclock.service.config import ServiceConfig
from acclock.service.service import open_service
from acclock.system.cluster import joined, load_ray

if TYPE_CHECKING:
    from ray.serve import Application

_NAME = "acclock"
_MOST_CALLS = 10_000
"""At one replica at a time; a stream is one for as long as it lasts. It refuses more by itself."""
_SILENT: dict[str, Any] = {"logging_config": {"log_level": "ERROR", "enable_access_log": False}}
"""No log of who asked for what: paths hold names of people."""
_CAUSE = re.compile(r"^acclock\.errors\.\w+: (.+)$", re.MULTILINE)


def check_for_cluster(config: ServiceConfig) -> None:
    """Refuse what replicas on several nodes cannot do."""
    load_ray()
    if not (config.database or "").startswith("postgresql"):
        raise ConfigError(
            "replicas on a cluster need a database that all of them reach: "
            "--database postgresql://..."
        )
    if config.port == 0:
        raise ConfigError("every node of a cluster listens on the same port: --port must name it")


def serve_on_cluster(
    config: ServiceConfig, *, address: str | None, on_ready: Callable[[], object]
) -> None:
    """Run ``config.workers`` replicas, wherever the cluster has a core, until told to stop.

    Each node with a replica listens; a replica that dies is started again where there is room.
    """
    check_for_cluster(config)
    with joined(address):
        _find_room(config.workers)
        from ray import serve  # as there

        logging.getLogger("ray.serve").setLevel(logging.ERROR)  # loading it set it to more
        shut_down: Callable[[], None] = serve.shutdown
        _leave_others_alone(set(serve.status().applications))
        shut_down()  # what one of us left behind that was killed
        serve.start(proxy_location="EveryNode", http_options=_listen(config), **_SILENT)
        try:
            _run(_deploy(config))
            on_ready()
            _wait()
        finally:
            shut_down()


def _deploy(config: ServiceConfig) -> "Application":
    from ray import serve  # as above

    make = serve.deployment(
        name=_NAME,
        num_replicas=config.workers,
        max_ongoing_requests=_MOST_CALLS,
        ray_actor_options={"num_cpus": 1},
        graceful_shutdown_wait_loop_s=0.5,
        graceful_shutdown_timeout_s=3.0,
        health_check_period_s=2.0,
        max_constructor_retry_count=2,
        **_SILENT,
    )
    return make(serve.ingress(_make_builder(config))()).bind()


def _run(application: "Application") -> None:
    from ray import serve  # as above

    try:
        serve.run(application, name=_NAME, **_SILENT)
    except RuntimeError as error:
        about = serve.status().applications[_NAME].deployments[_NAME].message
        said = (_CAUSE.findall(about) or [str(error)])[-1]
        raise ClusterError(f"no replica starts: {said}") from error


def _wait() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with suppress(KeyboardInterrupt):
        threading.Event().wait()


def _find_room(replicas: int) -> None:
    """Refuse what Ray would wait for without a word."""
    import ray  # has been loaded, quietly

    count: Callable[[], dict[str, float]] = ray.cluster_resources
    cores = int(count().get("CPU", 0.0))
    if cores < replicas:
        raise ClusterError(
            f"the cluster has {cores} cores; {replicas} replicas need one each: --workers {cores}"
        )


def _leave_others_alone(applications: set[str]) -> None:
    """Refuse to share: where Serve listens is settled for all that it serves."""
    if others := applications - {_NAME}:
        raise ClusterError(
            f"the cluster serves {', '.join(sorted(others))} already; AccLock wants a Ray Serve "
            "of its own, because who listens where is the same for all"
        )


def _listen(config: ServiceConfig) -> dict[str, object]:
    options: dict[str, object] = {"host": config.host, "port": config.port}
    options["keep_alive_timeout_s"] = 10
    if config.certificate is not None and config.certificate_key is not None:
        options["ssl_keyfile"] = str(config.certificate_key.resolve())
        options["ssl_certfile"] = str(config.certificate.resolve())
    return options


def _make_builder(config: ServiceConfig) -> Callable[[], FastAPI]:
    """Give what a replica calls on its node: everybody opens the vault with the key found there."""
    placed = replace(config, folder=config.folder.resolve())

    def build() -> FastAPI:
        return build_app(open_service(replace(placed, replica=os.urandom(8).hex())))

    return build
