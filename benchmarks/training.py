"""Time of training HIDNet on 22 people x 240 windows: ``python -m benchmarks.training``.

The windows are noise: what they hold changes nothing about how long they take. Two epochs are
measured; the time of a hundred is extrapolated from them and labeled so.
"""

import os
import time
from dataclasses import replace
from statistics import median

import numpy as np

from acclock.training.grid import Grid
from acclock.training.recipe import Recipe
from acclock.training.recipes import find_recipe
from acclock.training.run import Run
from acclock.training.subjects import Session, Subject
from acclock.training.threads import use_threads
from acclock.values import Recording

PEOPLE = 22
EPOCHS = 2
TARGET_MIN = 20.0


def draw_subject(index: int, recipe: Recipe) -> Subject:
    count, length = recipe.windows_per_person, recipe.shape.length
    chance = np.random.default_rng(index)
    windows = chance.standard_normal((count, 3, length), dtype=np.float32)
    grid = Grid(windows=windows, ends=length * np.arange(1, count + 1))
    recording = Recording(samples=np.zeros((3, count * length)), rate_hz=recipe.rate_hz)
    session = Session(recording=recording, grid=grid)
    return Subject(name=str(index), source="noise", sessions=(session,))


def measure(recipe: Recipe) -> float:
    run = Run(recipe, [draw_subject(index, recipe) for index in range(PEOPLE)])
    times_s = []
    for _ in range(EPOCHS):
        start = time.perf_counter()
        run.advance()
        times_s.append(time.perf_counter() - start)
    return median(times_s)


def main() -> None:
    use_threads(min(2, os.cpu_count() or 1))
    paper = find_recipe("paper")
    print(f"{PEOPLE} people x {paper.windows_per_person} windows, batch 64, load {os.getloadavg()}")
    for axes in (1, 3):
        epoch_s = measure(replace(paper, axes=axes))
        whole_min = epoch_s * paper.network_stage.epochs / 60
        verdict = "reached" if whole_min < TARGET_MIN else "missed"
        print(
            f"HIDNet, {axes} axes: {epoch_s:.1f} s an epoch; {paper.network_stage.epochs} epochs"
            f" extrapolated {whole_min:.1f} min, target {TARGET_MIN:g} min: {verdict}"
        )


if __name__ == "__main__":
    main()
