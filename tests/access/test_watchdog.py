import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acclock.access.watchdog import Watchdog
from acclock.errors import ConfigError

MONITOR = """
import sys, time
from acclock.access.watchdog import Watchdog
with Watchdog([["touch", "{out}/missing/x"], ["no-such-program"], {lock}], patience_s=1.0) as dog:
    print(dog.process_id, flush=True)
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        assert dog.beat()
        time.sleep(0.05)
    {last}
"""


class Monitor:
    """A process with a watchdog, which writes a line into a file when it locks."""

    def __init__(self, out: Path, *, lives_s: float, last: str = "pass") -> None:
        self.out = out
        lock = ["sh", "-c", f"echo locked >>{out}/locks"]
        script = MONITOR.format(out=out, lock=lock, last=last)
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", script, str(lives_s)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.guard = int(self.process.stdout.readline())

    @property
    def locks(self) -> int:
        path = self.out / "locks"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def locked_within(self, patience_s: float, *, times: int = 1) -> bool:
        deadline = time.monotonic() + patience_s
        while self.locks < times and time.monotonic() < deadline:
            time.sleep(0.02)
        return self.locks == times

    def end(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Monitor]]:
    """Start monitors, and end them with the test."""
    started = list[Monitor]()

    def begin(*, lives_s: float = 60.0, last: str = "pass") -> Monitor:
        started.append(Monitor(tmp_path, lives_s=lives_s, last=last))
        return started[-1]

    yield begin
    for monitor in started:
        monitor.end()


@pytest.fixture
def monitor(start: Callable[..., Monitor]) -> Monitor:
    return start()


def gone(process: int, patience_s: float = 5.0) -> bool:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_a_killed_monitor_is_locked_once(monitor: Monitor) -> None:
    monitor.process.kill()

    assert monitor.locked_within(5.0)
    assert gone(monitor.guard)
    assert monitor.locks == 1


def test_a_stopped_monitor_is_locked_once_for_each_time_that_it_stops(monitor: Monitor) -> None:
    for times in (1, 2):
        monitor.process.send_signal(signal.SIGSTOP)
        assert monitor.locked_within(5.0, times=times)
        time.sleep(1.2)
        assert monitor.locks == times
        monitor.process.send_signal(signal.SIGCONT)
        time.sleep(0.3)

    monitor.process.kill()

    assert monitor.locked_within(5.0, times=3)


def test_a_goodbye_locks_nothing(start: Callable[..., Monitor]) -> None:
    monitor = start(lives_s=0.3)

    assert monitor.process.wait(10.0) == 0
    assert gone(monitor.guard)
    assert monitor.locks == 0


@pytest.mark.parametrize(
    "last", ["raise RuntimeError", "import os; os._exit(0)", "1 / 0", "dog.abandon()"]
)
def test_an_end_without_a_goodbye_locks(last: str, start: Callable[..., Monitor]) -> None:
    monitor = start(lives_s=0.3, last=last)

    monitor.process.wait(10.0)

    assert monitor.locked_within(5.0)


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])
def test_the_watchdog_outlives_a_closed_terminal(name: str, monitor: Monitor) -> None:
    os.kill(monitor.guard, getattr(signal, name))
    time.sleep(0.2)
    monitor.process.kill()

    assert monitor.locked_within(5.0)


def test_a_watchdog_that_is_told_to_end_locks_first(monitor: Monitor) -> None:
    os.kill(monitor.guard, signal.SIGTERM)

    assert monitor.locked_within(5.0)


def test_a_monitor_notices_that_its_watchdog_is_gone() -> None:
    with Watchdog([], patience_s=5.0) as dog:
        assert dog.beat()
        os.kill(dog.process_id, signal.SIGKILL)
        assert gone(dog.process_id)

        assert not dog.beat()


def test_beating_never_blocks_though_the_watchdog_hangs() -> None:
    with Watchdog([], patience_s=5.0) as dog:
        os.kill(dog.process_id, signal.SIGSTOP)
        began = time.monotonic()

        beats = [dog.beat() for _ in range(66_000)]  # more than a pipe holds

        assert not beats[-1]
        assert time.monotonic() - began < 3.0
        os.kill(dog.process_id, signal.SIGKILL)


def test_the_watchdog_is_small_and_knows_the_standard_library_alone() -> None:
    with Watchdog([], patience_s=5.0) as dog:
        time.sleep(0.5)
        facts = Path(f"/proc/{dog.process_id}/status").read_text()
        maps = Path(f"/proc/{dog.process_id}/maps").read_text()

    resident_kb = int(facts.partition("VmRSS:")[2].split()[0])
    assert resident_kb < 20_000
    assert "site-packages" not in maps


def test_a_watchdog_without_patience_is_refused() -> None:
    with pytest.raises(ConfigError, match="patience"):
        Watchdog([], patience_s=0.0)
