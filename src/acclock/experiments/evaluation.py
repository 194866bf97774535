"""A model and people it never met in, error rates out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from acclock.errors import ModelError, TooFewError
from acclock.experiments.bootstrap import ROUNDS, draw_people
from acclock.experiments.gallery import Embeds, Gallery, embed_all
from acclock.experiments.participants import Participant
from acclock.experiments.protocols import AVERAGED, Plan, ProtocolName, plan
from acclock.experiments.scores import Score, score
from acclock.experiments.trials import Trials, enroll_all, try_all
from acclock.matching.centers import are_unit
from acclock.matching.cohort import Cohort
from acclock.matching.det import Det, det
from acclock.matching.enrollment import enroll
from acclock.values import FloatArray

_ENROLLED = datetime(2000, 1, 1, tzinfo=UTC)
"""When these templates were made: they are thrown away, and no figure hangs on a clock."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """Everything that was measured."""

    protocol: ProtocolName
    people: int
    recordings: int
    windows: int
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


def evaluate(
    participants: Sequence[Participant],
    embedder: Embeds,
    *,
    protocol: ProtocolName,
    cohort: Cohort | None = None,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Evaluation:
    """Enroll everybody, try everybody's windows against everyone, and count the errors.

    The cohort is of people outside the test, and gives the threshold that an enrollment would
    have chosen; without it, errors at that threshold are not measured.
    """
    _check(participants, embedder, cohort)
    gallery = embed_all(participants, embedder)
    planned = plan(gallery, protocol, seed=seed)
    centers = enroll_all(gallery, planned)
    thresholds = None if cohort is None else _choose_thresholds(gallery, planned, cohort)
    draws = draw_people(len(participants), rounds=rounds, seed=seed)
    tried = [
        trials
        for windows in AVERAGED[protocol]
        if (trials := try_all(gallery, planned, centers, windows=windows)).own.any()
    ]
    return Evaluation(
        protocol=protocol,
        people=len(participants),
        recordings=int(gallery.recordings[-1]) + 1,
        windows=len(gallery),
        unusable_windows=int(np.count_nonzero(~are_unit(gallery.embeddings))),
        not_enrolled=len(set(planned.owners[np.isnan(centers).any(axis=1)].tolist())),
        seed=seed,
        rounds=rounds,
        scores=tuple(
            score(trials, participants, draws=draws, thresholds=thresholds) for trials in tried
        ),
        curves=tuple(_trace(trials) for trials in tried),
    )


def _check(participants: Sequence[Participant], embedder: Embeds, cohort: Cohort | None) -> None:
    if len(participants) < 2:
        raise TooFewError(what="people", have=len(participants), need=2)
    known = [one.name for one in participants if embedder.card.learned_from(one.name)]
    if known:
        raise ModelError(
            f"the model {embedder.card.name} learned from {len(known)} of these people"
            f" ({known[0]} is one); it can be evaluated only on people it has never met"
        )
    if cohort is not None and cohort.model != embedder.fingerprint:
        raise ModelError("the cohort was made by another model than the one that is evaluated")


def _choose_thresholds(gallery: Gallery, planned: Plan, cohort: Cohort) -> FloatArray:
    """Give the threshold of every template by the paper's rule: NaN, where none can be made."""
    thresholds = np.full(len(planned.owners), np.nan)
    usable = are_unit(gallery.embeddings)
    for number, enrolled in enumerate(planned.enrolled & usable):
        if np.count_nonzero(enrolled) >= 2:
            template = enroll(gallery.embeddings[enrolled], cohort=cohort, now=_ENROLLED)
            thresholds[number] = template.threshold
    return thresholds


def _trace(trials: Trials) -> Det:
    return det(trials.distances[trials.own], trials.distances[trials.others])
