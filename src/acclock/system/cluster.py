"""A Ray cluster: joined quietly, or refused with a sentence."""

import logging
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from acclock.errors import ClusterError, MissingExtraError

_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_SCHEDULER_EVENTS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_worker_niceness": "0",  # a node that starts here works as fast as any other program
    "RAY_NUM_REDIS_GET_RETRIES": "1",  # else an address where nobody answers takes minutes
}
_PATIENCE_S = 5.0
THIS_MACHINE = "local"


@contextmanager
def joined(address: str | None) -> Iterator[None]:
    """Be part of a cluster for as long as this lasts.

    ``None`` is what ``RAY_ADDRESS`` says, else a cluster of this machine alone, which ends with it.
    What Ray says of nodes that it lost goes to standard error.
    """
    load_ray()
    import ray  # takes seconds, and most have no need of it

    place = address or os.environ.get("RAY_ADDRESS") or THIS_MACHINE
    _look_for(place)
    logging.getLogger("ray").setLevel(logging.ERROR)
    with redirect_stdout(sys.stderr):
        try:
            ray.init(
                place,
                include_dashboard=False if place == THIS_MACHINE else None,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            said = str(error).partition("\n")[0].rstrip(".")
            raise ClusterError(f"cannot join the Ray cluster at {place}: {said}") from error
        try:
            yield
        finally:
            ray.shutdown()


def load_ray() -> None:
    """Import Ray with its manners set, which it reads when it is imported."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtraError(package="ray", extra="cluster") from error


def _look_for(place: str) -> None:
    """Refuse an address where nobody listens, for which Ray would wait."""
    if place in (THIS_MACHINE, "auto"):
        return
    host, _, port = place.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise ClusterError(f"the address of a Ray cluster is host:port or auto, not {place!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE_S).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(f"no Ray cluster answers at {place}: {error}") from error
