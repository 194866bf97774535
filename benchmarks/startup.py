"""How long a command takes before it says anything: ``python -m benchmarks.startup``."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

TARGET_S = 0.4
ROUNDS = 9
PROGRAM = str(Path(sys.executable).with_name("acclock"))


def measure(*arguments: str) -> float:
    start = time.perf_counter()
    subprocess.run([PROGRAM, *arguments], check=True, capture_output=True)  # noqa: S603
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "wearer.npz")
        measure("simulate", file)
        print(f"{'command':<16}{'median s':>10}{'worst s':>10}   target {TARGET_S} s")
        for arguments in (("--help",), ("info", file), ("doctor",)):
            times = [measure(*arguments) for _ in range(ROUNDS)]
            verdict = "reached" if median(times) < TARGET_S else "missed"
            print(f"{arguments[0]:<16}{median(times):>10.3f}{max(times):>10.3f}   {verdict}")


if __name__ == "__main__":
    main()
