"""How long a command takes, from the shell and back: ``python -m benchmarks.startup``.

Beside the time on the clock stands the time of the processor: what a core of its own would take,
whatever else the machine does.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROUNDS = 7
PROGRAM = str(Path(sys.executable).with_name("acclock"))


def measure(*arguments: str, home: str) -> tuple[float, float]:
    """Give the seconds on the clock and those of the processor."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(  # noqa: S603 - our own program
        [PROGRAM, *arguments], capture_output=True, env=os.environ | {"ACCLOCK_HOME": home}
    )
    took_s, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode > 1:
        sys.exit(ran.stderr.decode())
    worked_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took_s, worked_s


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home, first, later = (str(Path(folder, name)) for name in ("home", "a.npz", "b.npz"))
        measure("simulate", first, "--minutes", "6", home=home)
        measure("simulate", later, "--minutes", "1", home=home)
        measure("enroll", "anna", first, home=home)
        commands = {
            ("--help",): 0.3,
            ("info", later): 0.4,
            ("doctor",): 0.4,
            ("list",): 1.0,
            ("verify", "anna", later): 1.0,
        }
        print(f"{'command':<16}{'median s':>10}{'processor s':>13}{'target s':>10}")
        for arguments, target_s in commands.items():
            times = [measure(*arguments, home=home) for _ in range(ROUNDS)]
            took_s, worked_s = (median(column) for column in zip(*times, strict=True))
            verdict = "reached" if took_s < target_s else "missed"
            figures = f"{took_s:>10.3f}{worked_s:>13.3f}{target_s:>10.1f}"
            print(f"{arguments[0]:<16}{figures}   {verdict}")


if __name__ == "__main__":
    main()
