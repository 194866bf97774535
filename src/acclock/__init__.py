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
    from acclock.pipeline import clean as denoise
    from acclock.recognizer import open_recognizer
    from acclock.recordings import read, write
    from acclock.simulation import Scene, draw_person, simulate
    from acclock.values import Recording
    from acclock.vault.opening import open_vault

_HOMES = {
    "AccLockError": "acclock.errors:AccLockError",
    "Recording": "acclock.values:Recording",
    "Scene": "acclock.simulation:Scene",
    "denoise": "acclock.pipeline:clean",
    "draw_person": "acclock.simulation:draw_person",
    "open_recognizer": "acclock.recognizer:open_recognizer",
    "open_vault": "acclock.vault.opening:open_vault",
    "read": "acclock.recordings:read",
    "simulate": "acclock.simulation:simulate",
    "write": "acclock.recordings:write",
}

__all__ = [
    "AccLockError",
    "Recording",
    "Scene",
    "denoise",
    "draw_person",
    "open_recognizer",
    "open_vault",
    "read",
    "simulate",
    "write",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'acclock' has no attribute {name!r}")
    module, _, known_as = _HOMES[name].partition(":")
    return getattr(import_module(module), known_as)


def __dir__() -> list[str]:
    return __all__
