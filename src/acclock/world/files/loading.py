"""Many recordings read at once, by several processes."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from acclock.errors import AccLockError
from acclock.values import Recording
from acclock.world.files.datasets import Dataset, Entry

_AT_ONCE = 4
"""Recordings per task: few enough for an even progress, enough to open a zip only now and then."""

_Parts = dict[str, Any]
"""The fields of a recording, as they travel from a worker: its labels cannot leave as they are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Loaded:
    """One entry of a data set with its recording, or with the sentence why there is none."""

    entry: Entry
    recording: Recording | None = None
    refusal: str | None = None


def load_all(
    dataset: Dataset,
    *,
    rate_hz: float | None = None,
    workers: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Iterator[Loaded]:
    """Read a data set in its order, with as many processes as the machine has cores.

    ``on_progress`` hears how many are done, and of how many.
    """
    entries = list(dataset)
    tasks = [entries[at : at + _AT_ONCE] for at in range(0, len(entries), _AT_ONCE)]
    done = 0
    for task, results in zip(tasks, _run(tasks, rate_hz, workers), strict=True):
        for entry, result in zip(task, results, strict=True):
            done += 1
            if on_progress is not None:
                on_progress(done, len(entries))
            yield _finish(entry, result)


def _run(
    tasks: list[list[Entry]], rate_hz: float | None, workers: int | None
) -> Iterator[list[_Parts | str]]:
    workers = min(workers or os.cpu_count() or 1, len(tasks))
    if workers <= 1:
        yield from (_load(task, rate_hz) for task in tasks)
        return
    # only who reads many recordings at once should wait for this to load
    from acclock.world.processes import processes

    with processes(workers) as pool:
        yield from pool.map(_load, tasks, [rate_hz] * len(tasks))


def _load(entries: list[Entry], rate_hz: float | None) -> list[_Parts | str]:
    return [_load_one(entry, rate_hz) for entry in entries]


def _load_one(entry: Entry, rate_hz: float | None) -> _Parts | str:
    try:
        recording = entry.load(rate_hz)
    except AccLockError as error:
        return str(error)
    parts = {one.name: getattr(recording, one.name) for one in fields(recording)}
    return {**parts, "labels": dict(recording.labels)}


def _finish(entry: Entry, result: _Parts | str) -> Loaded:
    if isinstance(result, str):
        return Loaded(entry=entry, refusal=result)
    return Loaded(entry=entry, recording=Recording(**result))
