"""Time of training HIDNet on 22 people x 240 windows: ``python -m benchmarks.training [EPOCHS]``.

The windows are noise: what they hold changes nothing about how long they take. Two epochs are
measured unless told otherwise; the time of a hundred is extrapolated from them and labeled so.
"""

import os
import sys
import time
from dataclasses import replace
from statistics import median

import numpy as np

from acclock.training.grid import Grid
from acclock.training.recipe import Recipe, find_recipe
from acclock.training.run import Run, use_threads
from acclock.training.subjects import Subject, SubjectSession
from acclock.values import Recording

PEOPLE = 22
EPOCHS = 2
CORES = min(2, os.cpu_count() or 1)
TARGET_MIN = 20.0


def draw_subject(index: int, recipe: Recipe) -> Subject:
    count, length = recipe.windows_per_person, recipe.shape.length
    chance = np.random.default_rng(index)
    windows = chance.standard_normal((count, 3, length), dtype=np.float32)
    grid = Grid(windows=windows, ends=length * np.arange(1, count + 1))
    recording = Recording(samples=np.zeros((3, count * length)), rate_hz=recipe.rate_hz)
    session = SubjectSession(recording=recording, grid=grid)
    return Subject(name=str(index), source="noise", sessions=(session,))


def measure(recipe: Recipe, epochs: int) -> tuple[float, float]:
    """Give the seconds of an epoch by the clock, and those that its processors worked."""
    run = Run(recipe, [draw_subject(index, recipe) for index in range(PEOPLE)])
    clocked, worked = [], []
    for _ in range(epochs):
        start, begin = time.perf_counter(), time.process_time()
        run.advance()
        clocked.append(time.perf_counter() - start)
        worked.append(time.process_time() - begin)
    return median(clocked), median(worked)


def main() -> None:
    epochs = int(sys.argv[1]) if len(sys.argv) > 1 else EPOCHS
    use_threads(CORES)
    paper = find_recipe("paper")
    stage = paper.network_stage
    print(
        f"HIDNet, {PEOPLE} people x {paper.windows_per_person} windows, batch {stage.batch},"
        f" {CORES} cores, load of the machine {os.getloadavg()[0]:.1f}; {epochs} epochs measured"
    )
    for axes in (1, 3):
        epoch_s, worked_s = measure(replace(paper, axes=axes), epochs)
        whole_min = epoch_s * stage.epochs / 60
        verdict = "reached" if whole_min < TARGET_MIN else "missed"
        print(f"  {axes} axes: {epoch_s:.1f} s an epoch, {worked_s:.1f} s of processor time")
        print(
            f"    {stage.epochs} epochs, extrapolated: {whole_min:.1f} min,"
            f" aim {TARGET_MIN:g} min: {verdict}",
            flush=True,
        )


if __name__ == "__main__":
    main()
