"""A model beside people it never met, and what comes of enrolling them."""

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from acclock.errors import ModelError, TooFewError
from acclock.experiments.gallery import FingerprintedEmbedder, Gallery
from acclock.experiments.participants import Participant
from acclock.experiments.trials import EnrollmentPlan, Trials, try_all
from acclock.matching.centers import are_unit
from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import enroll
from acclock.matching.threshold import RULES, Rule, usual_rule
from acclock.values import FloatArray

_ENROLLED = datetime(2000, 1, 1, tzinfo=UTC)
"""When these templates were made: they are thrown away, and no figure hangs on a clock."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Panel:
    """Who is tried by which model.

    The cohort is of people outside the test, and gives the threshold that an enrollment would
    have chosen; without it, errors at that threshold are not measured.
    """

    participants: tuple[Participant, ...]
    embedder: FingerprintedEmbedder
    cohort: Cohort | None = None
    rule: Rule | None = None
    """By which rule people are enrolled and tried; the one that is usual with the cohort, or the
    paper's where there is none."""

    @property
    def chosen_rule(self) -> Rule:
        if self.rule is not None:
            return self.rule
        return RULES["paper"] if self.cohort is None else usual_rule(self.cohort)

    def check(self) -> None:
        """Refuse people whom the model or its cohort knows."""
        people, card, cohort = self.participants, self.embedder.card, self.cohort
        if len(people) < 2:
            raise TooFewError(what="people", have=len(people), need=2)
        known = [one.name for one in people if card.learned_from(one.name)]
        if known:
            raise ModelError(
                f"the model {card.name} learned from {len(known)} of these people"
                f" ({known[0]} is one); it can be evaluated only on people it has never met"
            )
        if cohort is not None and cohort.model != self.embedder.fingerprint:
            raise ModelError("the cohort was made by another model than the one that is evaluated")
        if cohort is not None and any(cohort.was_made_from(one.name) for one in people):
            raise ModelError("the cohort was made from some of these people; it must be of others")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EnrolledPanel:
    """Everybody's windows and templates, ready to be tried."""

    gallery: Gallery
    planned: EnrollmentPlan
    centers: FloatArray
    thresholds: FloatArray | None
    rule: Rule
    cohort: Cohort | None

    def try_all(self, windows: int) -> Trials:
        """Measure every group of so many windows in a row against every template."""
        return try_all(
            self.gallery,
            self.planned,
            self.centers,
            windows=windows,
            rule=self.rule,
            cohort=self.cohort,
        )

    @property
    def unusable(self) -> int:
        return int(np.count_nonzero(~are_unit(self.gallery.embeddings)))

    @property
    def not_enrolled(self) -> int:
        return len(set(self.planned.owners[np.isnan(self.centers).any(axis=1)].tolist()))


def choose_thresholds(
    gallery: Gallery, planned: EnrollmentPlan, cohort: Cohort, *, rule: Rule
) -> FloatArray:
    """Give the threshold of every template by a rule: NaN, where none can be made."""
    thresholds = np.full(len(planned.owners), np.nan)
    usable = are_unit(gallery.embeddings)
    for number, enrolled in enumerate(planned.enrolled & usable):
        if np.count_nonzero(enrolled) >= 2:
            windows = gallery.embeddings[enrolled]
            template = enroll(windows, cohort=cohort, now=_ENROLLED, rule=rule)
            thresholds[number] = template.threshold
    return thresholds
