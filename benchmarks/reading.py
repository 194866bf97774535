"""Rows per second of all of MSCardio, beside pandas: ``python -m benchmarks.reading``.

AccLock reads, checks and resamples to 100 Hz with all cores; pandas parses the same files in one
process, as a user would write it. Both unpack the same zip. Exits 1 when AccLock is slower.
"""

import os
import sys
import time
import zipfile
from pathlib import Path
from statistics import median

import pandas as pd
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from acclock.recordings import Dataset, load_all, open_dataset

FILE = "mscardio-dev.zip"
RATE_HZ = 100.0
ROUNDS = 3


def read_with_acclock(dataset: Dataset) -> float:
    start = time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), transient=True) as progress:
        task = progress.add_task("reading", total=len(dataset))
        loaded = load_all(
            dataset,
            rate_hz=RATE_HZ,
            on_progress=lambda done, _: progress.update(task, completed=done),
        )
        refusals = [one.refusal for one in loaded if one.refusal]
    took_s = time.perf_counter() - start
    assert not refusals, refusals
    return took_s


def read_with_pandas(path: Path, names: tuple[str, ...]) -> tuple[float, int]:
    start = time.perf_counter()
    rows = 0
    with zipfile.ZipFile(path) as archive:
        for name in names:
            with archive.open(name) as file:
                rows += len(pd.read_csv(file))
    return time.perf_counter() - start, rows


def main() -> int:
    path = Path(os.environ.get("ACCLOCK_DATA", "")) / FILE
    if not path.is_file():
        print(f"left out: ACCLOCK_DATA does not name a folder with {FILE}")
        return 0
    dataset = open_dataset(path)
    ratios = []
    print(f"{len(dataset)} recordings, {os.cpu_count()} cores; rows a second")
    print(f"{'AccLock, resampled':>20}{'pandas.read_csv':>18}{'ratio':>8}")
    for _ in range(ROUNDS):
        ours_s = read_with_acclock(dataset)
        theirs_s, rows = read_with_pandas(path, dataset.names)
        ratios.append(theirs_s / ours_s)
        print(f"{rows / ours_s:>20,.0f}{rows / theirs_s:>18,.0f}{ratios[-1]:>8.2f}")
    verdict = "at least as fast" if median(ratios) >= 1 else "slower: FAILED"
    print(f"median ratio {median(ratios):.2f}: {verdict}")
    return 0 if median(ratios) >= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
