"""An evaluation in words for people, and as named numbers for programs."""

from collections.abc import Callable, Sequence

from acclock.embedding.card import Card
from acclock.experiments.bootstrap import Estimate
from acclock.experiments.evaluation import Evaluation
from acclock.experiments.scores import PartScore, Score

NO_COHORT = "no cohort comes with the model: FAR and FRR at the enrolled threshold are left out"
WITHIN = "both sides hold windows of the same wearings: this says nothing of another day"

_FIGURES: dict[str, tuple[str, Callable[[Score], Estimate | None]]] = {
    "equal_error": ("pooled_equal_error", lambda score: score.equal_error),
    "equal_error_from_enrolled": (
        "pooled_from_own_thresholds",
        lambda score: score.equal_error_enrolled,
    ),
    "mean_equal_error": ("mean_per_person", lambda score: score.mean_equal_error),
    "fnmr_at_fmr_1_percent": ("FNMR_at_FMR_1_%", lambda score: score.fnmr_at_wanted_fmr),
    "far_at_enrolled_threshold": ("FAR_as_enrolled", lambda score: score.far_enrolled),
    "frr_at_enrolled_threshold": ("FRR_as_enrolled", lambda score: score.frr_enrolled),
}
"""Each figure by the name that a program reads, with the name that a person does."""


def describe(evaluation: Evaluation, *, card: Card, notes: Sequence[str] = ()) -> dict[str, object]:
    """Give all figures of an evaluation by name, fit for JSON."""
    return {
        "protocol": evaluation.protocol,
        "rule": evaluation.rule,
        "model": {"name": card.name, "version": card.version},
        "people": evaluation.people,
        "recordings": evaluation.recordings,
        "windows": evaluation.windows,
        "turned_away_windows": evaluation.turned_away,
        "unusable_windows": evaluation.unusable_windows,
        "people_not_enrolled": evaluation.not_enrolled,
        "bootstrap": {"over": "people", "rounds": evaluation.rounds, "seed": evaluation.seed},
        "scores": [_describe_score(score) for score in evaluation.scores],
        "notes": [*notes, *remark(evaluation)],
    }


def summarize(
    evaluation: Evaluation, *, card: Card, notes: Sequence[str] = ()
) -> dict[str, object]:
    """Give an evaluation as lines for a person to read."""
    figures = {
        words: [
            _format_estimate(score.windows, found)
            for score in evaluation.scores
            if (found := get(score))
        ]
        for words, get in _FIGURES.values()
    }
    return {
        "protocol": evaluation.protocol,
        "rule": evaluation.rule,
        "model": f"{card.name} {card.version}",
        "people": f"{evaluation.people}, {evaluation.recordings} recordings,"
        f" {evaluation.windows} windows of which {evaluation.unusable_windows} unusable",
        **figures,
        "parts_(1_window)": [_format_part(part) for part in evaluation.scores[0].parts],
        "in_brackets": "the middle 95 % of draws of people",
        "notes": [*notes, *remark(evaluation)],
    }


def remark(evaluation: Evaluation) -> list[str]:
    """Say what a reader of the figures must know."""
    remarks = [WITHIN] if evaluation.protocol == "within-session" else []
    if evaluation.scores[0].far_enrolled is None:
        remarks.append(NO_COHORT)
    if evaluation.not_enrolled:
        remarks.append(f"{evaluation.not_enrolled} people could not be enrolled: always rejected")
    return remarks


def _describe_score(score: Score) -> dict[str, object]:
    return {
        "windows_averaged": score.windows,
        "own_trials": score.own_trials,
        "stranger_trials": score.other_trials,
        "equal_error_threshold": round(score.threshold, 5),
        **{name: _describe_estimate(get(score)) for name, (_, get) in _FIGURES.items()},
        "parts": [_describe_part(part) for part in score.parts],
    }


def _describe_part(scored: PartScore) -> dict[str, object]:
    return {
        "kind": scored.part.kind,
        "name": scored.part.name,
        "people": scored.part.people,
        "equal_error": _describe_estimate(scored.equal_error),
        "fmr_at_common_threshold": round(scored.fmr, 5),
        "fnmr_at_common_threshold": round(scored.fnmr, 5),
    }


def _describe_estimate(found: Estimate | None) -> dict[str, float] | None:
    if found is None:
        return None
    return {
        "value": round(found.value, 5),
        "low": round(found.low, 5),
        "high": round(found.high, 5),
    }


def _format_estimate(windows: int, found: Estimate) -> str:
    return f"{_in_percent(found)} for {windows} window{'s' if windows > 1 else ''}"


def _format_part(scored: PartScore) -> str:
    part = scored.part
    return (
        f"{part.kind} {part.name}: {_in_percent(scored.equal_error)}, {part.people} people;"
        f" at the common threshold FMR {100 * scored.fmr:.1f}, FNMR {100 * scored.fnmr:.1f} %"
    )


def _in_percent(found: Estimate) -> str:
    return f"{100 * found.value:.1f} % ({100 * found.low:.1f}-{100 * found.high:.1f})"
