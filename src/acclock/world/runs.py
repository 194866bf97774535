"""A run on disk: put aside after every epoch, and gone on with after a crash."""

from collections.abc import Callable
from pathlib import Path

from acclock.training.checkpoint import Checkpoint, Report
from acclock.training.run import Run
from acclock.training.scalars import Scalars
from acclock.world.replacing import replacing

OnReport = Callable[[str, Report, int, int], object]
"""Hears which run it is, what the epoch came to, how many are done, and of how many."""


def go_on(run: Run, folder: Path, *, on_report: OnReport = lambda *_: None) -> None:
    """Bring a run to its end from wherever it was put aside, and put it aside every epoch."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "checkpoint.safetensors"
    if file.is_file():
        run.take_up(Checkpoint.from_bytes(file.read_bytes()))
    scalars = Scalars(folder)
    while not run.finished:
        report = run.advance()
        with replacing(file) as opened:
            opened.write(run.put_aside().to_bytes())
        scalars.add(report)
        on_report(folder.name, report, len(run.reports), run.length)
    scalars.close()
