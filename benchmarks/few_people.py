"""How many people a model has to learn from, and whether one recording of each suffices.

    python -m benchmarks.few_people MSCARDIO [--recipe views] [--draws 6] [--work FOLDER]

A third of the people who were recorded more than once judges; of the others so many learn, drawn
anew each time. The limits below which ``acclock train`` warns are read off this table
(``acclock.training.subjects``).
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from acclock.training.corpora import gather
from acclock.training.judging import try_all
from acclock.training.recipe import Recipe, find_recipe
from acclock.training.run import Run, use_threads
from acclock.training.subjects import Subject, check_subjects

COUNTS = (6, 12, 20, 30, 50)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mscardio")
    parser.add_argument("--recipe", default="views")
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--work", type=Path, default=Path("out/few-people"))
    told = parser.parse_args()
    use_threads(1)
    recipe = replace(find_recipe(told.recipe), keep="last")
    corpus = gather([told.mscardio], recipe.prepared, cache=told.work)
    people = check_subjects(corpus.subjects, folds=recipe.folds)
    print(f"{told.recipe}: equal error of one window / mean of 5, median of {told.draws} draws")
    print("| learned from | all recordings | one recording of each |\n|---|---|---|")
    for count in COUNTS:
        cells = [_measure(recipe, people, count, told.draws, once=once) for once in (False, True)]
        print(f"| {count} people | {cells[0]} | {cells[1]} |", flush=True)


def _measure(
    recipe: Recipe, people: Sequence[Subject], count: int, draws: int, *, once: bool
) -> str:
    errors = np.median(
        [_learn(recipe, people, count, seed, once=once) for seed in range(draws)], axis=0
    )
    return f"{errors[0]:.1%} / {errors[1]:.1%}"


def _learn(
    recipe: Recipe, people: Sequence[Subject], count: int, seed: int, *, once: bool
) -> tuple[float, float]:
    """Give the errors of a model that learned from some people on others."""
    chance = np.random.default_rng(seed)
    often = [subject for subject in people if len(subject.sessions) > 1]
    order = chance.permutation(len(often))
    judges = [often[n] for n in order[: len(often) // 3]]
    names = {subject.name for subject in judges}
    rest = [subject for subject in people if subject.name not in names]
    learned = [rest[n] for n in chance.permutation(len(rest))[:count]]
    if once:
        learned = [replace(one, sessions=one.sessions[:1]) for one in learned]
    run = Run(replace(recipe, seed=seed), learned)
    while not run.finished:
        run.advance()
    (trials,) = try_all(run.model, judges, axes=recipe.axes)
    return trials.error(), trials.error(windows=5)


if __name__ == "__main__":
    main()
