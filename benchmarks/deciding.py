"""What decides, side by side: plain distances, thresholds by several rules, other ways to pool.

    python -m benchmarks.deciding MSCARDIO CLASSYGLASS [--deals 1 2] [--work FOLDER]

The shipped recipe is fitted on folds that are dealt otherwise than those of the reported figures,
and tried on the usable windows of the people of MSCardio whom it did not learn from: the first
half of their sessions enrolls. Printed is the pooled equal error in %, after the semicolon the
mean over people, for 1, 5 and 15 windows, as the mean over the deals.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from acclock.experiments.gallery import Gallery
from acclock.experiments.panels import choose_thresholds
from acclock.experiments.scores import equal_error_of
from acclock.experiments.trials import (
    EnrollmentPlan,
    Trials,
    enroll_all,
    group,
    plan_cross_session,
    pool_trials,
    try_all,
)
from acclock.matching.centers import center_of
from acclock.matching.coaching import measure_widest
from acclock.matching.cohort import Cohort, StrangerKind, measure_levels
from acclock.matching.normalization import measure_all
from acclock.matching.threshold import RULES
from acclock.models.strangers import blend
from acclock.training.corpora import gather
from acclock.training.recipe import read_recipe
from acclock.training.run import use_threads
from acclock.training.subjects import check_subjects, deal
from acclock.training.whitening import Whitening
from acclock.values import FloatArray
from benchmarks.unknown_device import RESTING, Wearer, fit, measure_people, unit, whiten

FOLDS = 3
WINDOWS = (1, 5, 15)
TRIED = "MSCardio"

Way = Callable[[Gallery, EnrollmentPlan, Cohort, int], Trials]


def decide_by(name: str) -> Way:
    """Distances from the threshold that a rule chose, in its unit."""
    rule = RULES[name]

    def decide(gallery: Gallery, plan: EnrollmentPlan, cohort: Cohort, windows: int) -> Trials:
        centers = enroll_all(gallery, plan)
        trials = try_all(gallery, plan, centers, windows=windows, rule=rule, cohort=cohort)
        return trials.less(choose_thresholds(gallery, plan, cohort, rule=rule))

    return decide


def decide_plainly(gallery: Gallery, plan: EnrollmentPlan, _: Cohort, windows: int) -> Trials:
    return try_all(gallery, plan, enroll_all(gallery, plan), windows=windows)


def pool_windows(rule: str, *, each_recording: bool) -> Way:
    """Distances of the mean window, from one center or from the nearest of each recording's."""

    def decide(gallery: Gallery, plan: EnrollmentPlan, cohort: Cohort, windows: int) -> Trials:
        trials = decide_plainly(gallery, plan, cohort, windows)
        pooled = unit(gallery.embeddings[group(gallery.recordings, windows)].mean(axis=1))
        columns = []
        for enrolled in plan.enrolled:
            parts = gallery.recordings[enrolled] if each_recording else np.zeros(enrolled.sum())
            rows = gallery.embeddings[enrolled]
            centers = np.stack([center_of(rows[parts == part]) for part in np.unique(parts)])
            found = measure_all(centers, pooled, rule=RULES[rule], cohort=cohort)
            columns.append(found.min(axis=1))
        return Trials(
            windows=windows,
            distances=np.stack(columns, axis=1),
            wearers=trials.wearers,
            owners=trials.owners,
            own=trials.own,
            others=trials.others,
        )

    return decide


WAYS: dict[str, Way] = {
    "plain distances, one threshold": decide_plainly,
    "from own thresholds, `paper`": decide_by("paper"),
    "from own thresholds, `leave-one-out`": decide_by("leave-one-out"),
    "from own thresholds, `as-norm`": decide_by("as-norm"),
    "from own thresholds, `likelihood`": decide_by("likelihood"),
    "mean window, plain": pool_windows("paper", each_recording=False),
    "mean window, AS-norm": pool_windows("as-norm", each_recording=False),
    "mean window, nearest recording": pool_windows("paper", each_recording=True),
    "mean window, nearest recording, AS-norm": pool_windows("as-norm", each_recording=True),
}


def lay_out(wearers: Sequence[Wearer], embed: Callable[[FloatArray], FloatArray]) -> Gallery:
    sessions = [(who, embed(rows)) for who, one in enumerate(wearers) for rows in one.sessions]
    counts = [len(rows) for _, rows in sessions]
    return Gallery(
        embeddings=np.vstack([rows for _, rows in sessions]),
        wearers=np.repeat([who for who, _ in sessions], counts),
        recordings=np.repeat(np.arange(len(sessions)), counts),
    )


def make_cohort(learned: Sequence[Wearer], embed: Callable[[FloatArray], FloatArray]) -> Cohort:
    chance = np.random.default_rng(0)
    kinds, rows = [], []
    for source in sorted({one.source for one in learned}):
        people = [[embed(part) for part in one.sessions] for one in learned if one.source == source]
        blends = blend([np.vstack(sessions) for sessions in people], chance)
        widest, levels = measure_widest(people), measure_levels(people)
        kinds.append(StrangerKind(name=source, count=len(blends), widest=widest, levels=levels))
        rows.append(blends)
    return Cohort(embeddings=np.vstack(rows), model="bench", kinds=tuple(kinds))


def count(trials: Trials) -> tuple[float, float]:
    """Give the pooled equal error and the mean over people."""
    pooled = equal_error_of(trials.distances[trials.own], trials.distances[trials.others])
    columns = zip(trials.distances.T, trials.own.T, trials.others.T, strict=True)
    each = [
        equal_error_of(found[own], found[others]) for found, own, others in columns if own.any()
    ]
    return 100 * pooled, 100 * float(np.mean(each))


def run(wearers: dict[str, Wearer], folds: dict[str, int]) -> FloatArray:
    """Give the figures of every way, ``(way, windows, pooled or mean)``."""
    benches = []
    for fold in range(FOLDS):
        learned = [one for name, one in wearers.items() if folds[name] != fold]
        embed = partial(_embed, fit(learned))
        judges = [one for name, one in wearers.items() if folds[name] == fold]
        gallery = lay_out([one for one in judges if one.source == TRIED], embed)
        benches.append((gallery, plan_cross_session(gallery), make_cohort(learned, embed)))
    return np.array(
        [
            [count(pool_trials([way(*bench, windows) for bench in benches])) for windows in WINDOWS]
            for way in WAYS.values()
        ]
    )


def _embed(head: Whitening, rows: FloatArray) -> FloatArray:
    return unit(whiten(head, rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("mscardio")
    parser.add_argument("classyglass")
    parser.add_argument("--deals", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--work", type=Path, default=Path("encoders"))
    told = parser.parse_args()
    use_threads(1)
    recipe = read_recipe('base = "views"\n')
    places = [told.mscardio, "simulated:40", told.classyglass + RESTING]
    subjects = check_subjects(
        gather(places, recipe.prepared, cache=told.work / "windows").subjects, folds=FOLDS
    )
    wearers = measure_people(subjects)
    found = [run(wearers, dict(deal(subjects, folds=FOLDS, seed=seed))) for seed in told.deals]
    for way, figures in zip(WAYS, np.mean(found, axis=0), strict=True):
        cells = " | ".join(f"{pooled:.1f}; {mean:.1f}" for pooled, mean in figures)
        print(f"| {way} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
