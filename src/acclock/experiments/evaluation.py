"""A model and people it never met in, error rates out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from acclock.experiments.bootstrap import ROUNDS, draw_people
from acclock.experiments.gallery import FingerprintedEmbedder, embed_all
from acclock.experiments.panels import EnrolledPanel, Panel, choose_thresholds
from acclock.experiments.participants import Participant
from acclock.experiments.scores import Score, score
from acclock.experiments.trials import AVERAGED, ProtocolName, Trials, enroll_all, plan, pool_trials
from acclock.matching.cohort import Cohort
from acclock.matching.rates import Det, det
from acclock.matching.threshold import Rule, name_rule
from acclock.values import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """Everything that was measured."""

    protocol: ProtocolName
    rule: str
    """By which rule people were enrolled and tried."""
    people: int
    recordings: int
    windows: int
    turned_away: int
    """Windows with a fault, when windows are gated: they take no part."""
    unusable_windows: int
    """Windows that the model makes nothing of: they are rejected."""
    not_enrolled: int
    """People of whom too few windows are usable: they count as rejected throughout."""
    seed: int
    rounds: int
    scores: tuple[Score, ...]
    """One for each number of windows averaged, if any recording is long enough for it."""
    curves: tuple[Det, ...]
    """The trade between the two errors, one for each score."""

    @property
    def named_curves(self) -> dict[str, Det]:
        """The curves by how many windows were averaged, in words."""
        names = [f"mean of {one.windows}" if one.windows > 1 else "1 window" for one in self.scores]
        return dict(zip(names, self.curves, strict=True))


def evaluate(  # noqa: PLR0913 - who is tried, by what, and how it is counted
    participants: Sequence[Participant],
    embedder: FingerprintedEmbedder,
    *,
    protocol: ProtocolName,
    cohort: Cohort | None = None,
    rule: Rule | None = None,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Evaluation:
    """Enroll everybody, try everybody's windows against everyone, and count the errors."""
    panel = Panel(participants=tuple(participants), embedder=embedder, cohort=cohort, rule=rule)
    return evaluate_folds([panel], protocol=protocol, rounds=rounds, seed=seed)


def evaluate_folds(
    panels: Sequence[Panel],
    *,
    protocol: ProtocolName,
    gated: bool = False,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Evaluation:
    """Count the errors of several models together, each on people it never met.

    Nobody is tried against the people of another model. ``gated``: windows with a fault are
    turned away, as they are when people enroll and are recognized.
    """
    benches = [_prepare(panel, protocol, gated=gated, seed=seed) for panel in panels]
    participants = [person for panel in panels for person in panel.participants]
    draws = draw_people(len(participants), rounds=rounds, seed=seed)
    tried = [
        trials
        for windows in AVERAGED[protocol]
        if (trials := pool_trials([bench.try_all(windows) for bench in benches])).own.any()
    ]
    return Evaluation(
        protocol=protocol,
        rule=name_rule(benches[0].rule),
        people=len(participants),
        recordings=sum(len(person.recordings) for person in participants),
        windows=sum(len(bench.gallery) for bench in benches),
        turned_away=sum(bench.gallery.turned_away for bench in benches),
        unusable_windows=sum(bench.unusable for bench in benches),
        not_enrolled=sum(bench.not_enrolled for bench in benches),
        seed=seed,
        rounds=rounds,
        scores=tuple(
            score(trials, participants, draws=draws, thresholds=_join_thresholds(benches))
            for trials in tried
        ),
        curves=tuple(_trace(trials) for trials in tried),
    )


def _prepare(panel: Panel, protocol: ProtocolName, *, gated: bool, seed: int) -> EnrolledPanel:
    panel.check()
    gallery = embed_all(panel.participants, panel.embedder, gated=gated)
    planned = plan(gallery, protocol, seed=seed)
    return EnrolledPanel(
        gallery=gallery,
        planned=planned,
        centers=enroll_all(gallery, planned),
        thresholds=None
        if panel.cohort is None
        else choose_thresholds(gallery, planned, panel.cohort, rule=panel.chosen_rule),
        rule=panel.chosen_rule,
        cohort=panel.cohort,
    )


def _join_thresholds(benches: Sequence[EnrolledPanel]) -> FloatArray | None:
    found = [bench.thresholds for bench in benches if bench.thresholds is not None]
    return np.concatenate(found) if len(found) == len(benches) else None


def _trace(trials: Trials) -> Det:
    return det(trials.distances[trials.own], trials.distances[trials.others])
