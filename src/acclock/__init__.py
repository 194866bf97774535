"""AccLock knows who wears an earphone by the heartbeat that its accelerometer feels.

Everything a program needs is here and loads when it is first asked for:

>>> import acclock
>>> anna = acclock.draw_person(1)
>>> worn = acclock.simulate(anna, acclock.Scene(duration_s=30.0), seed=7)
>>> worn.recording.rate_hz
100.0
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acclock.errors import AccLockError
    from acclock.simulation import Scene, draw_person, simulate
    from acclock.values import Recording
    from acclock.world.files import read, write

_HOMES = {
    "AccLockError": "acclock.errors",
    "Recording": "acclock.values",
    "Scene": "acclock.simulation",
    "draw_person": "acclock.simulation",
    "read": "acclock.world.files",
    "simulate": "acclock.simulation",
    "write": "acclock.world.files",
}

__all__ = ["AccLockError", "Recording", "Scene", "draw_person", "read", "simulate", "write"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'acclock' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
