"""Traces of all streams of a group, as they are now and as they were written down."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.golden.clocks import Row
from tests.golden.frames import HOST_DAMAGES
from tests.golden.loops import run_monitor, run_service
from tests.golden.scripts import GROUPS, Script

LOOPS = ("monitor", "service")
TOLERANCE_S = 0.5
Traces = dict[str, dict[str, list[Row]]]
"""The rows of each loop, by the name of the stream."""


@cache
def trace(group: str) -> Traces:
    """Run the streams of a group through both loops."""
    scripts = GROUPS[group]
    served = _serve(scripts)
    return {
        script.name: {"monitor": run_monitor(script), "service": served[script.name]}
        for script in scripts
    }


def _serve(scripts: Sequence[Script]) -> dict[str, list[Row]]:
    """Serve all streams together, but for those that make everybody wait."""
    alone = [one for one in scripts if any(two.kind in HOST_DAMAGES for two in one.damages)]
    together = [one for one in scripts if one not in alone]
    served = {one.name: run_service([one])[0] for one in alone}
    return served | dict(zip([one.name for one in together], run_service(together), strict=True))


def list_names(group: str) -> list[str]:
    return [script.name for script in GROUPS[group]]


def path_of(group: str) -> Path:
    return Path(__file__).parent / "traces" / f"{group}.json"


@cache
def read(group: str) -> Traces:
    """Read what was written down."""
    written = json.loads(path_of(group).read_text())
    return {
        name: {loop: [tuple(row) for row in rows] for loop, rows in loops.items()}
        for name, loops in written.items()
    }


def write(group: str, traces: Traces) -> None:
    """Write traces down, one row a line."""
    streams = []
    for name, loops in traces.items():
        parts = [
            f"  {json.dumps(loop)}: [\n   " + ",\n   ".join(map(json.dumps, rows)) + "\n  ]"
            for loop, rows in loops.items()
        ]
        streams.append(f" {json.dumps(name)}: {{\n" + ",\n".join(parts) + "\n }")
    path_of(group).write_text("{\n" + ",\n".join(streams) + "\n}\n")


def compare(before: Sequence[Row], now: Sequence[Row]) -> list[str]:
    """Say how a trace differs from another, in sentences."""
    was, is_ = [row[1:] for row in before], [row[1:] for row in now]
    if was != is_:
        place = next(
            (place for place, pair in enumerate(zip(was, is_, strict=False)) if pair[0] != pair[1]),
            min(len(was), len(is_)),
        )
        return [f"from row {place} on it was {before[place:]} and is {now[place:]}"]
    return [
        f"{one[1:]} came at {one[0]:g} s and comes at {two[0]:g} s"
        for one, two in zip(before, now, strict=True)
        if abs(one[0] - two[0]) > TOLERANCE_S + 1e-6
    ]
