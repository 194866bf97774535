"""What the folds of a cross-validation come to."""

from collections.abc import Iterator, Sequence

from acclock.training.judging import Trials
from acclock.training.run import Run

_AVERAGED = (1, 5, 15)
"""Windows whose distances are averaged for a decision."""


def measure(pooled: Sequence[Trials]) -> dict[str, float]:
    """Give the equal error of each data set, with its interval over people."""
    return dict(_name_metrics(pooled))


def _name_metrics(pooled: Sequence[Trials]) -> Iterator[tuple[str, float]]:
    for trials in pooled:
        source = trials.source.lower()
        yield f"{source}_people", float(trials.people)
        for windows in _AVERAGED:
            name = f"{source}_equal_error_{windows}"
            low, high = trials.interval(windows=windows)
            yield name, trials.error(windows=windows)
            yield f"{name}_low", low
            yield f"{name}_high", high


def measure_last(runs: Sequence[Run]) -> dict[str, float]:
    """Give the mean error of the folds at the best and at the last epoch, which nobody chose."""
    last = [run.reports[-1].error or 0.0 for run in runs]
    stage = runs[0].reports[-1].stage
    best = [min(r.error or 0.0 for r in run.reports if r.stage == stage) for run in runs]
    count = len(runs)
    return {
        "fold_mean_equal_error_best": sum(best) / count,
        "fold_mean_equal_error_last": sum(last) / count,
    }


def average_epochs(runs: Sequence[Run]) -> dict[str, int]:
    """Give for each stage how many epochs were best, on average over the folds."""
    best = [run.best_epochs() for run in runs]
    return {stage: round(sum(one[stage] for one in best) / len(best)) for stage in best[0]}
