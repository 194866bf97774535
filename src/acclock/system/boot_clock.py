"""A clock that nobody can set: milliseconds since this machine started, sleep included."""

import time
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def now_ms() -> int:
    """Give the time since the machine started, which goes on while it sleeps."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime_ns(clock) // 1_000_000


def this_boot() -> str:
    """Give the name of this run of the machine, so that a time of another run is not mistaken."""
    try:
        return _BOOT.read_text("ascii").strip()
    except OSError:  # where no kernel tells, the two ends at least agree
        return "unknown"
